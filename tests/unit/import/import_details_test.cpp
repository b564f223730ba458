// Single directives whose loss was silent, or whose place or words were wrong.
#include "config/load.hpp"
#include "fixture.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;

TEST_CASE("add_header of what Stint answers itself") {
    const auto answering = [](const std::string& what) {
        return served(
            "listen 80; add_header X-A 1; add_header X-B 2 always; location / { " + what + " }");
    };
    const Imported ok = answering("return 200 x;");
    check_line(
        ok, "respond: {status: 200, body: x, content_type: text/plain, headers: {X-A: \"1\", X-B: "
            "\"2\"}}");
    CHECK(lost(ok).empty());
    const Imported missing = answering("return 404;");
    check_line(missing, "respond: {status: 404, headers: {X-B: \"2\"}}");
    CHECK(lost(missing).empty());
    CHECK(stint::config::load_text(missing.draft, "draft").has_value());
    const Imported moved = answering("return 301 https://x.example/;");
    CHECK(loses(moved, "4:12", "add_header: \"X-A\" is not added to redirects"));
    CHECK(loses(moved, "4:30", "\"X-B\" is not added to redirects"));
    const Imported type =
        served("listen 80; location / { add_header Content-Type text/html; return 200 x; }");
    CHECK(lost(type).size() == 1);
    CHECK(stint::config::load_text(type.draft, "draft").has_value());
}

TEST_CASE("expires adds headers that the draft lacks") {
    CHECK(loses(served("listen 80; expires 30d;\n" + forward), "4:12", "expires"));
}

TEST_CASE("proxy_hide_header of what Stint itself sends") {
    for (const std::string& name :
         std::vector<std::string>{"Date", "Retry-After", "X-RateLimit-Limit"}) {
        CAPTURE(name);
        const Imported made = served(
            "listen 80; location / { proxy_pass http://127.0.0.1:1;\nproxy_hide_header " + name +
            "; }");
        CHECK(loses(made, "5:1", "proxy_hide_header: \"" + name + "\" is left to Stint"));
    }
}

namespace {

std::string tls_server(const std::string& more) {
    return "server { listen 443 ssl; ssl_certificate /c; ssl_certificate_key /k;\n" + more +
           forward + "}\n";
}

} // namespace

TEST_CASE("ssl_protocols: what min_version cannot say") {
    const Imported old = imported("http {\n" + tls_server("ssl_protocols TLSv1.2;") + "}");
    CHECK(loses(old, "3:1", "Stint has no highest version: the draft has TLS 1.3, too"));
    const Imported two = imported(
        "http {\n" + tls_server("") + tls_server("server_name b.example; ssl_protocols TLSv1.3;") +
        "}");
    CHECK(loses(two, "6:24", "min_version is that of all names of a listener"));
    CHECK(lost(imported("http {\n ssl_protocols TLSv1.3;" + tls_server("") + "}")).empty());
}

TEST_CASE("ssl_reject_handshake of a server that is not the default") {
    const Imported made = imported(
        "http {\n" + tls_server("") +
        "server { listen 443 ssl; server_name b.example;\nssl_reject_handshake on; } }");
    CHECK(loses(made, "6:1", "Stint refuses unknown names"));
    CHECK(lost(imported(
                   "http {\nserver { listen 443 ssl default_server; ssl_reject_handshake on; }\n" +
                   tls_server("server_name a.example;") + "}"))
              .empty());
}

TEST_CASE("a name of the default server is not that of a server behind it") {
    const std::string first =
        "http { server { listen 80 default_server; server_name a.example; return 200 one; }\n";
    const Imported same = imported(
        first + "server { listen 80; server_name a.example b.example; return 200 two; } }");
    CHECK(same.draft.find("host: a.example") == std::string::npos);
    check_line(same, "match: {host: b.example, path: /}");
    CHECK(loses(
        same, "2:21", "server_name: \"a.example\" is that of the server at nginx.conf:1:8, too"));
    const Imported other =
        imported(first + "server { listen 81; server_name a.example; return 200 two; } }");
    check_line(other, "match: {host: a.example, path: /}");
}

TEST_CASE("redirect_http: the port, and all of a server's answers") {
    const auto clear = [](const std::string& inside) {
        return imported(
            "http {\nserver { listen 80; server_name a.example; " + inside + " }\n" +
            "server { listen 8443 ssl; server_name a.example; ssl_certificate /c; "
            "ssl_certificate_key /k;\n" +
            forward + "} }");
    };
    check_line(clear("return 301 https://$host:8443$request_uri;"), "redirect_http: 8443");
    check_line(clear("return 301 https://$host:443$request_uri;"), "redirect_http: true");
    check_line(clear("return 301 https://a.example:8443$request_uri;"), "redirect_http: 8443");
    CHECK(lost(clear("return 301 https://a.example:8443$request_uri;")).empty());
    for (const std::string& rest : std::vector<std::string>{
             "return 301 https://$host$request_uri;",
             "location / { return 301 https://$host$request_uri; }"}) {
        CAPTURE(rest);
        const Imported mixed =
            clear("if ($host = old.example) { return 301 http://new.example/; }\n" + rest);
        CHECK(mixed.draft.find("redirect_http") == std::string::npos);
    }
    const Imported ports = imported(
        "http {\nserver { listen 80; return 301 https://$host:8443$request_uri; }\n"
        "server { listen 80; server_name b.example;\nreturn 301 https://$host:9443$request_uri; "
        "}\n" +
        tls_server("") + "}");
    CHECK(loses(ports, "4:1", "leads to port 8443"));
}

TEST_CASE("a map with regular expressions gives no exempt networks") {
    const Imported made = served(
        "listen 80; location / { limit_req zone=z; proxy_pass http://127.0.0.1:1; }",
        "geo $l { default 1; 10.0.0.0/8 0; } map $l $k { default $binary_remote_addr; \"~^0$\" "
        "\"\"; }\n"
        "limit_req_zone $k zone=z:1m rate=1r/s;");
    CHECK(loses(made, "5:25", "$k depends on more than networks that are exempt"));
}

TEST_CASE("variables that a placeholder would give another value") {
    for (const std::string& variable :
         std::vector<std::string>{"$realip_remote_addr", "$http_host"}) {
        CAPTURE(variable);
        const Imported made = served(
            "listen 80; location / { proxy_pass http://127.0.0.1:1;\nproxy_set_header X-Peer " +
            variable + "; }");
        CHECK(loses(made, "5:1", "has " + variable + ", for which Stint has no placeholder"));
    }
    const Imported port = served("listen 80; location / { proxy_pass http://127.0.0.1:1;\n"
                                 "proxy_set_header Host $http_host:$server_port; }");
    CHECK(loses(port, "5:1", "Host: Stint has no such value"));
    const Imported moved = served("listen 80; location / {\nreturn 301 https://$http_host/x; }");
    check_line(moved, "redirect: {to: \"https://{host}/x\", status: 301}");
    CHECK(loses(moved, "5:1", "$http_host has the client's port"));
}

TEST_CASE("large_client_header_buffers: the bounds of a request's head") {
    const Imported made = served("listen 80;\n" + forward, "large_client_header_buffers 4 8k;");
    check_line(made, "max_head: 32KiB");
    check_line(made, "max_target: 8KiB");
    CHECK(lost(made).empty());
    const Imported large = served("listen 80;\n" + forward, "large_client_header_buffers 8 128k;");
    check_line(large, "max_head: 64KiB");
    check_line(large, "max_target: 64KiB");
    CHECK(loses(large, "2:1", "a head has at most 64KiB in Stint"));
    CHECK(stint::config::load_text(large.draft, "draft").has_value());
    CHECK(loses(
        served("listen 80;\nlarge_client_header_buffers 4 32k;\n" + forward), "5:1",
        "is that of all listeners"));
    CHECK(loses(
        served("listen 80;\n" + forward, "large_client_header_buffers x 1;"), "2:1", "expected"));
    const Imported small = served("listen 80;\n" + forward, "large_client_header_buffers 1 512;");
    check_line(small, "max_head: 1KiB");
    CHECK(stint::config::load_text(small.draft, "draft").has_value());
}

TEST_CASE("real_ip_recursive of a server or location is not that of all routes") {
    const Imported made = served(
        "listen 80; location / {\nreal_ip_recursive on; proxy_pass http://127.0.0.1:1; }",
        "set_real_ip_from 10.0.0.0/8;");
    CHECK(loses(made, "5:1", "is that of all routes; left out"));
    check_line(made, "# Not the same: nginx takes the last address of the header");
}

TEST_CASE("a file of conf.d is read as what stands in http") {
    const Imported made = imported(
        "keepalive_timeout 30s;\nclient_header_timeout 20s;\naccess_log "
        "/var/log/x.log;\nmerge_slashes off;\n"
        "large_client_header_buffers 2 8k;\n"
        "server { listen 80;\n" +
        forward + "}");
    CHECK(lost(made).empty());
    check_line(made, "timeouts: {head: 20s, body_idle: 60s, idle: 30s");
    check_line(made, "access_log: {path: /var/log/x.log}");
    check_line(made, "merge_slashes: false");
}

TEST_CASE("try_files of a server, or with root behind it") {
    const std::string app = "location @app { proxy_pass http://127.0.0.1:1; }\n";
    for (const std::string& files : std::vector<std::string>{
             "location / { try_files $uri @app; root /srv; }", "root /srv; try_files $uri @app;",
             "try_files $uri @app; root /srv;",
             "try_files $uri @app; location /x/ { return 204; }"}) {
        CAPTURE(files);
        const Imported made = served("listen 80;\n" + files + app);
        check_line(made, "upstream: \"127.0.0.1_1\"");
        CHECK(lost(made).size() == 1);
    }
}

TEST_CASE("what is switched off in nginx is not lost") {
    const Imported made = served(
        "listen 80; ssl_stapling off; expires off; charset off; " + forward,
        "gzip off; proxy_cache off; satisfy all; gunzip off; proxy_store off; limit_rate 0; mirror "
        "off;");
    CHECK(lost(made).empty());
    CHECK(made.findings.size() >= 10);
    CHECK(
        lost(
            served(
                "listen 80; underscores_in_headers off; chunked_transfer_encoding off; " + forward))
            .size() == 2);
}
