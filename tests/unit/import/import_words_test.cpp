// The words and places of findings: each names the line that it is about, and one reason.
#include "fixture.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;

TEST_CASE("a network that is none is listed where it stands") {
    const Imported made = served(
        "listen 80;\n" + forward, "set_real_ip_from 10.0.0.0/8;\nset_real_ip_from "
                                  "lb.example;\nset_real_ip_from 10.2.0.0/16;");
    CHECK(loses(made, "3:1", "\"lb.example\" is no network"));
}

TEST_CASE("an upstream with hash keeps its place") {
    const Imported unused =
        served("listen 80;\n" + forward, "upstream u { server a:1;\nhash $http_x; }");
    CHECK(loses(unused, "2:1", "upstream: no route of the draft uses it"));
    const Imported used = served(
        "listen 80; location / { proxy_pass http://u; }",
        "upstream u { server a:1; server b:1;\nhash $request_uri; }");
    check_line(used, "# upstream u (nginx.conf:2:1)");
    CHECK(loses(used, "3:1", "hash: Stint has no such key"));
}

TEST_CASE("why a header does not fit") {
    std::string set, added;
    for (int i = 0; i < 65; ++i) {
        const std::string number = std::to_string(i);
        set.append("proxy_set_header X-").append(number).append(" 1;\n");
        added.append("add_header X-").append(number).append(" 1;\n");
    }
    const Imported many =
        served("listen 80; location / { proxy_pass http://127.0.0.1:1;\n" + set + added + "}");
    CHECK(loses(many, "69:1", "\"X-64\" is one header too many (64); left out"));
    CHECK(loses(many, "134:1", "\"X-64\" is one header too many (64); left out"));
    CHECK(is_valid(many));
    const Imported made = served("listen 80; location / { proxy_pass http://127.0.0.1:1;\n"
                                 "proxy_set_header X-A 1; add_header X-A 1;\n"
                                 "proxy_set_header x_a 2;\nadd_header x_a 2;\nadd_header Via x;\n"
                                 "add_header X-B $host;\nadd_header X-C \"\xC3\xA4\"; }");
    CHECK(loses(made, "6:1", "\"x_a\" is set twice; left out"));
    CHECK(loses(made, "7:1", "\"x_a\" is set twice; left out"));
    CHECK(loses(made, "8:1", "\"Via\" is left to Stint"));
    CHECK(loses(made, "9:1", "\"X-B\" has a variable; left out"));
    CHECK(loses(made, "10:1", "\"X-C\" has a value that Stint does not send; left out"));
    CHECK(is_valid(made));
    CHECK(lost(served("listen 80; add_header X-A \"\";\n" + forward)).empty());
    std::string hidden;
    for (int i = 0; i < 65; ++i)
        hidden.append("\nproxy_hide_header X-").append(std::to_string(i)).append(";");
    const Imported hides = served("listen 80; " + forward + hidden);
    CHECK(loses(hides, "70:1", "\"X-64\" is one header too many (64); left out"));
    CHECK(is_valid(hides));
    check_line(
        served("listen 80; add_header Retry-After 5 always; return 503;"),
        "respond: {status: 503, headers: {Retry-After: \"5\"}}");
}

TEST_CASE("why a server of an upstream is left out, or an option of it") {
    std::string servers;
    for (int i = 0; i < 65; ++i)
        servers.append("server a:").append(std::to_string(i + 1)).append(";\n");
    const std::string uses = "listen 80; location / { proxy_pass http://u; }";
    const Imported many = served(uses, "upstream u {\n" + servers + "}");
    CHECK(loses(many, "67:1", "\"a:65\" is one endpoint too many (64); left out"));
    CHECK(is_valid(many));
    const Imported made = served(
        uses, "upstream u { server a:1;\nserver a:1;\nserver b:x;\nserver c:1 weight=2000;\n"
              "server d:1 slow_start=30s;\nserver e:1 max_conns=2000000; }");
    CHECK(loses(made, "3:1", "\"a:1\" is there already; left out"));
    CHECK(loses(made, "4:1", "\"b:x\" is no endpoint; left out"));
    CHECK(loses(made, "5:1", "weight=1 to weight=1000"));
    CHECK(loses(made, "6:1", "slow_start: Stint has no such key; left out"));
    CHECK(loses(made, "7:1", "max_conns=0 to max_conns=1000000"));
    CHECK(is_valid(made));
    const Imported broken = served(uses, "upstream u { server a:1 'b\nc=1'; }");
    CHECK(loses(broken, "2:14", "\"b\\x0ac\": Stint has no such key; left out"));
}

TEST_CASE("an argument that is not read: what is expected") {
    CHECK(loses(
        served("listen 80; location / {\nlimit_req zone=z burst=1 nodelay x; }"), "5:1",
        "has 4 arguments, expected 1 to 3"));
    CHECK(loses(
        served("listen 80;\nserver_name;\n" + forward), "5:1",
        "has 0 arguments, expected at least 1"));
    CHECK(loses(
        served("listen 80;\nssl_certificate $host.pem;\n" + forward), "5:1",
        "has an argument that the draft cannot have; expected the path of a file, without "
        "variables"));
    CHECK(loses(
        served("listen 80;\nproxy_read_timeout 0;\n" + forward), "5:1",
        "has an argument that the draft cannot have; expected a time such as 60s, from 1ms to 366 "
        "days"));
}

TEST_CASE("too many limits are listed where the location stands") {
    std::string zones, limits;
    for (int i = 0; i < 17; ++i) {
        const std::string number = std::to_string(i);
        zones.append("limit_req_zone $host zone=z").append(number).append(":1m rate=1r/s; ");
        limits.append("limit_req zone=z").append(number).append("; ");
    }
    const Imported made =
        served("listen 80;\nlocation / { " + limits + "proxy_pass http://127.0.0.1:1; }", zones);
    CHECK(loses(made, "5:1", "location: a route has more than 16 limits; the draft has 16"));
    CHECK(is_valid(made));
}

TEST_CASE("a zone that counts what a dry run lets through, too") {
    const Imported made = served(
        "listen 80;\nlimit_req zone=z;\n" + forward +
            "location /b/ { limit_req_dry_run on; proxy_pass http://127.0.0.1:1; }",
        "limit_req_zone $host zone=z:1m rate=1r/s;");
    CHECK(loses(made, "5:1", "nginx counts it in one zone with and without limit_req_dry_run"));
    CHECK(lost(made).size() == 1);
}

TEST_CASE("ssl_verify_client that is alike in all servers of a listener is not lost") {
    const auto two = [](const std::string& http, const std::string& one, const std::string& other) {
        const std::string server =
            "server { listen 443 ssl; ssl_certificate /c; ssl_certificate_key /k;\n";
        return imported(
            "http { ssl_client_certificate /ca;\n" + http + "\n" + server +
            "server_name a.example; " + one + forward + "}\n" + server + "server_name b.example; " +
            other + forward + "} }");
    };
    const Imported alike = two("ssl_verify_client on;", "", "");
    CHECK(lost(alike).empty());
    check_line(alike, "client_ca: /ca");
    CHECK(loses(
        two("", "\nssl_verify_client on;", ""), "5:1",
        "ssl_verify_client: is that of all names of a listener"));
    CHECK(loses(
        two("ssl_verify_client on;", "", "\nssl_verify_client optional;"), "8:1",
        "ssl_verify_client: is that of all names of a listener"));
    CHECK(loses(
        two("ssl_verify_client on;", "", "\nssl_client_certificate /other;"), "8:1",
        "client_ca is that of all names of a listener"));
}

TEST_CASE("a name of a server is listed where it stands") {
    const Imported made = served(
        "listen 80;\nserver_name a.example;\nserver_name d.example;\n" + forward +
        "}\nserver { listen 80; server_name e.example;\nserver_name d.example\n ~^f; " + forward);
    CHECK(
        loses(made, "10:1", "server_name: \"d.example\" is that of the server at nginx.conf:3:1"));
    CHECK(loses(made, "10:1", "server_name: \"~^f\" is no host that Stint matches"));
}

TEST_CASE("the Host that the upstream gets") {
    const auto with = [](const std::string& value) {
        return served(
            "listen 80; location / { proxy_pass http://127.0.0.1:1; proxy_set_header Host " +
            value + "; }");
    };
    const std::string differs = "# Not the same: in nginx this Host is in lower case and has";
    const Imported as_sent = with("$http_host");
    check_line(as_sent, "host: keep");
    CHECK_FALSE(has_line(as_sent, differs));
    for (const std::string& value : std::vector<std::string>{"$host", "$host:$server_port"}) {
        CAPTURE(value);
        const Imported made = with(value);
        check_line(made, "host: keep");
        check_line(made, differs);
        CHECK(lost(made).empty());
    }
}

TEST_CASE("nginx's default of proxy_redirect is said once") {
    const std::string differs = "# Not the same: nginx turns a Location";
    const auto times = [&](const Imported& made) {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = made.draft.find(differs, at)) != std::string::npos; ++at)
            ++count;
        return count;
    };
    const std::string more = "location /a/ { proxy_pass http://127.0.0.1:2; }\n";
    CHECK(times(served("listen 80;\n" + forward + more)) == 1);
    CHECK(times(served("listen 80; proxy_redirect off;\n" + forward + more)) == 0);
    CHECK(times(served("listen 80; proxy_set_header Host $http_host;\n" + forward + more)) == 0);
    CHECK(times(served("listen 80; return 204;")) == 0);
    CHECK(lost(served("listen 80;\n" + forward)).empty());
}

TEST_CASE("absolute_redirect off is what Stint does") {
    CHECK(lost(served("listen 80; absolute_redirect off; return 301 /x;")).empty());
    CHECK(loses(
        served("listen 80;\nabsolute_redirect on; return 301 /x;"), "5:1",
        "Stint sends targets as they are written"));
}

TEST_CASE("add_header with always: also on what the draft refuses itself") {
    const auto headers = [](const std::string& inside) {
        return served(
            "listen 80; add_header X-A 1; add_header X-B 2 always; location / { " + inside + " }");
    };
    const std::string b = ", headers: {X-B: \"2\"}}";
    check_line(headers("deny all; proxy_pass http://127.0.0.1:1;"), "respond: {status: 403" + b);
    check_line(headers("internal; proxy_pass http://127.0.0.1:1;"), "respond: {status: 404" + b);
    check_line(headers("root /srv;"), "respond: {status: 501" + b);
    check_line(
        headers("auth_basic x; proxy_pass http://127.0.0.1:1;"), "respond: {status: 403" + b);
    const Imported made = headers("deny all;");
    CHECK(lost(made).empty());
    CHECK(is_valid(made));
}

TEST_CASE("limit_conn with a larger number than Stint has") {
    const Imported made = served(
        "listen 80; location / {\nlimit_conn z 2000000; proxy_pass http://127.0.0.1:1; }",
        "limit_conn_zone $host zone=z:1m;");
    CHECK(loses(made, "5:1", "has a larger number than Stint; the draft has 1000000"));
    check_line(made, "z: {concurrent: 1000000");
    CHECK(is_valid(made));
}
