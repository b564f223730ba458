#include "config/load.hpp"
#include "fixture.hpp"

using namespace stint::import_nginx::test;
using namespace stint::import_nginx;

namespace {

const std::string pass = "location / { proxy_pass http://127.0.0.1:1; }";

} // namespace

TEST_CASE("a whole configuration has a draft that is valid, and nothing is lost") {
    const Imported made = imported(
        "user www-data; worker_processes auto; events { worker_connections 1024; }\n"
        "http { sendfile on; keepalive_timeout 65; client_max_body_size 0;\n"
        "limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;\n"
        "server { listen 8080; listen [::]:8080; location / { limit_req zone=one burst=5 nodelay;\n"
        "proxy_pass http://127.0.0.1:9000; proxy_read_timeout 5s; client_max_body_size 1m; } } }");
    CHECK(lost(made).empty());
    CHECK(made.whole());
    check_line(
        made, "timeouts: {head: 60s, body_idle: 60s, idle: 65s, connect: 60s, response: 60s, "
              "tunnel_idle: 60s}");
    check_line(made, "timeouts: {response: 5s, tunnel_idle: 5s}");
    check_line(made, "max_body: off");
    check_line(made, "max_body: 1MiB");
    const auto loaded = stint::config::load_text(made.draft, "draft");
    REQUIRE(loaded.has_value());
    CHECK(loaded->listeners.size() == 2);
    CHECK(loaded->routes.size() == 1);
}

TEST_CASE("what is not known, not expected or left out is listed with its place") {
    const Imported made = imported(
        "http {\n  proxy_pas x;\n  listen 80;\n  server { gzip on; listen 80 quic;\n" + pass +
        "\n include gone.conf;\n client_max_body_size x; } }");
    CHECK(
        lost(made) == std::vector<std::string>{
                          "nginx.conf:2:3: proxy_pas: is not a directive that is known here; did "
                          "you mean \"proxy_pass\"?",
                          "nginx.conf:3:3: listen: is not expected in http; left out",
                          "nginx.conf:4:12: gzip: Stint does not change bodies; left out",
                          "nginx.conf:4:21: listen: \"quic\" has no counterpart",
                          "nginx.conf:6:2: include: \"/etc/nginx/gone.conf\" cannot be read: No "
                          "such file or directory; left out",
                          "nginx.conf:7:2: client_max_body_size: has an argument that the draft "
                          "cannot have; expected a size such as 10m, of at most 1024g"});
    CHECK(made.draft.find("# Not carried over (6):") != std::string::npos);
}

TEST_CASE("a configuration that cannot be parsed, or has no server, is a fault") {
    const auto fault = [](const std::string& text) {
        const auto made = import_text(text, "nginx.conf", files({}));
        return made ? std::string{} : made.error().text();
    };
    CHECK(
        fault("http {") ==
        "nginx.conf:1:7: found the end of the file, expected \"}\" for the block "
        "\"http\" of line 1");
    CHECK(fault("http { }") == "nginx.conf:1:1: found no server, expected one in http { }");
    CHECK(
        fault("server { listen x:y; }") ==
        "nginx.conf:1:1: server: none of its addresses can be listened on; left out");
    CHECK(fault("") == "nginx.conf:1:1: found no server, expected one in http { }");
}

TEST_CASE("listeners: addresses, TLS, HTTP/2, PROXY protocol") {
    const Imported made = served(
        "listen 127.0.0.1:8443 ssl http2; listen unix:/run/a.sock; listen [::1]:81 "
        "proxy_protocol;\n"
        "ssl_certificate /c.pem; ssl_certificate_key k.pem; ssl_protocols TLSv1.3;\n" +
        pass);
    check_line(made, "address: \"127.0.0.1:8443\"");
    check_line(made, "{certificate: /c.pem, key: /etc/nginx/k.pem}");
    check_line(made, "min_version: 1.3");
    CHECK(made.draft.find("http:") == std::string::npos); // over TLS the default
    check_line(made, "address: \"unix:/run/a.sock\"");
    check_line(made, "proxy_protocol: true");
    check_line(made, "trusted_proxies: [\"127.0.0.1\"]");
    REQUIRE(lost(made).size() == 1);
    CHECK(lost(made)[0].find("put your balancers under trusted_proxies") != std::string::npos);
}

TEST_CASE("listeners: one that only redirects to https") {
    const std::string tls = "server { listen 443 ssl; server_name a.example; ssl_certificate c;\n"
                            "ssl_certificate_key k; " +
                            pass + " }\n";
    for (const std::string& clear : std::vector<std::string>{
             "server { listen 80; server_name a.example; return 301 https://$host$request_uri; }",
             "server { listen 80; server_name a.example; return 301 https://a.example$request_uri; "
             "}",
             "server { listen 80; location / { return 301 https://$server_name$request_uri; } }",
             "server { if ($host = a.example) { return 301 https://$host$request_uri; } listen "
             "80;\n"
             " server_name a.example; return 404; }"}) {
        CAPTURE(clear);
        const Imported made = imported("http { " + clear + tls + " }");
        check_line(made, "redirect_http: true");
        CHECK(made.draft.find("redirect:") == std::string::npos);
        CHECK(lost(made).empty());
    }
    const Imported other = imported(
        "http { server { listen 80; server_name a.example; return 301 "
        "https://b.example$request_uri; }" +
        tls + " }");
    CHECK(lost(other).size() == 1);
}

TEST_CASE("servers: hosts, the default server, those that only this machine reaches") {
    const Imported made = imported(
        "http { server { listen 80; server_name a.example; " + pass +
        " }\n"
        "server { listen 80; server_name b.example *.c.example .d.example; " +
        pass +
        " }\n"
        "server { listen 80; server_name ~^x www.e.*; " +
        pass +
        " }\n"
        "server { listen 80; server_name b.example f.example; " +
        pass +
        " }\n"
        "server { listen 127.0.0.1:81; server_name g.example; " +
        pass + " } }");
    for (const char* const host :
         {"b.example", "\"*.c.example\"", "d.example", "\"*.d.example\"", "f.example"})
        check_line(made, "match: {host: " + std::string{host} + ", path: /}");
    check_line(made, "match: {path: /}");
    CHECK(made.draft.find("g.example") == std::string::npos);
    CHECK(lost(made).size() == 5);
}

TEST_CASE("listeners: without any that can be carried over the draft has one on loopback") {
    for (const std::string& listen : std::vector<std::string>{
             "listen 443 ssl;", "listen 127.0.0.1:1; } server { listen what; "}) {
        CAPTURE(listen);
        const Imported made = imported("http { server { " + listen + pass + " } }");
        CHECK_FALSE(lost(made).empty());
        CHECK(stint::config::load_text(made.draft, "draft").has_value());
        CHECK(made.draft.find("0.0.0.0") == std::string::npos);
    }
}

TEST_CASE("a certificate and protocols of http are those of servers that have none") {
    const Imported made = imported(
        "http { ssl_certificate /c.pem; ssl_certificate_key /k.pem; ssl_protocols TLSv1.3;\n"
        "server { listen 443 ssl; " +
        pass + " } }");
    check_line(made, "{certificate: /c.pem, key: /k.pem}");
    check_line(made, "min_version: 1.3");
    CHECK(lost(made).empty());
}

TEST_CASE("if ($host = NAME) { return }: a route for that host, if the server has it") {
    const std::string one =
        "if ($host = a.example) { return 301 https://b.example$request_uri; }\n";
    const Imported made = imported(
        "http { server { listen 80; server_name a.example c.example; " + one + pass + " } }");
    check_line(made, "match: {host: a.example, path: /}");
    check_line(made, "redirect: {to: \"https://b.example{path}{?query}\", status: 301}");
    CHECK(lost(made).empty());
    const Imported other = imported(
        "http { server { listen 80; " + one + pass +
        " }\n"
        "server { listen 80; server_name a.example; " +
        pass + " } }");
    CHECK(other.draft.find("redirect:") == std::string::npos);
    CHECK(lost(other).size() == 1);
}

TEST_CASE("bytes that are not UTF-8 are left out where they stand") {
    const Imported made = served("listen 80; # \xE4\n location /\xE4/ { return 204; }\n" + pass);
    REQUIRE(lost(made).size() == 1);
    CHECK(lost(made)[0].find("location: has bytes that are not UTF-8") != std::string::npos);
    CHECK(stint::config::load_text(made.draft, "draft").has_value());
}

TEST_CASE("try_files to a named location: all requests go there") {
    const Imported made = served(
        "listen 80; root /srv; limit_req zone=one;\n"
        "location / { try_files $uri @app; }\n"
        "location @app { proxy_pass http://127.0.0.1:1; }\n location @other { return 404; }",
        "limit_req_zone $host zone=one:1m rate=1r/s;");
    check_line(made, "upstream: \"127.0.0.1_1\"");
    check_line(made, "limits: [one]");
    CHECK(lost(made).size() == 2);
}

TEST_CASE("the client's address behind trusted proxies") {
    const Imported made = imported(
        "http { set_real_ip_from 10.0.0.0/8; set_real_ip_from unix:; real_ip_header "
        "X-Forwarded-For;\n"
        "real_ip_recursive on; server { listen 80; " +
        pass + " } }");
    check_line(made, "trusted_proxies: [\"10.0.0.0/8\", unix]");
    check_line(made, "client_ip_header: X-Forwarded-For");
    CHECK(lost(made).empty());
    const Imported real =
        imported("http { set_real_ip_from 10.0.0.0/8; server { listen 80; location / { proxy_pass\n"
                 "http://127.0.0.1:1; proxy_set_header X-Real-IP $remote_addr; } } }");
    check_line(real, "client_ip_header: X-Real-IP");
    CHECK(lost(real).empty());
    CHECK(stint::config::load_text(real.draft, "draft").has_value());
}
