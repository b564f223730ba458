#include "fixture.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;

namespace {

const std::string zones = "limit_req_zone $binary_remote_addr zone=one:10m rate=10r/s;\n"
                          "limit_conn_zone $binary_remote_addr zone=conns:10m;\n";

Imported limited(const std::string& directives, const std::string& http = zones) {
    return served(
        "listen 80; location / { proxy_pass http://127.0.0.1:1; " + directives + " }", http);
}

const std::string key = "key: client_ip, ipv6_prefix: 128, status: 503}";

} // namespace

TEST_CASE("limit_req: nginx's bucket with burst, nodelay and delay") {
    const std::string one = "one: {requests: 10, per: 1s, algorithm: token_bucket, ";
    struct Case {
        std::string directives, expected;
    };
    for (const Case& each : std::vector<Case>{
             {"limit_req zone=one;", "burst: 1, " + key},
             {"limit_req zone=one burst=20 nodelay;", "burst: 21, " + key},
             {"limit_req zone=one burst=20;",
              "burst: 1, when_exceeded: wait, max_waiting: 20, max_wait: 2s, " + key},
             {"limit_req zone=one burst=20 delay=8;",
              "burst: 9, when_exceeded: wait, max_waiting: 12, max_wait: 1200ms, " + key},
             {"limit_req zone=one burst=5 delay=5;", "burst: 6, " + key},
             {"limit_req zone=one; limit_req_status 429;",
              "burst: 1, key: client_ip, ipv6_prefix: 128, status: 429}"},
             {"limit_req zone=one; limit_req_dry_run on;",
              "burst: 1, key: client_ip, ipv6_prefix: 128, enforce: false, status: 503}"},
         }) {
        CAPTURE(each.directives);
        const Imported made = limited(each.directives);
        check_line(made, one + each.expected);
        check_line(made, "limits: [one]");
        CHECK(lost(made).empty());
    }
}

TEST_CASE("limit_conn: a cap") {
    const Imported made = limited("limit_conn conns 10; limit_conn_status 429;");
    check_line(made, "conns: {concurrent: 10, key: client_ip, ipv6_prefix: 128, status: 429}");
    CHECK(lost(made).empty());
}

TEST_CASE("zones are shared over locations, with a status of each; other numbers count apart") {
    const Imported made = served(
        "listen 80; limit_req zone=one burst=5 nodelay;\n"
        "location /a/ { proxy_pass http://127.0.0.1:1; }\n"
        "location /b/ { proxy_pass http://127.0.0.1:1; limit_req_status 429; }\n"
        "location /c/ { proxy_pass http://127.0.0.1:1; limit_req zone=one burst=9 nodelay; }\n",
        zones);
    check_line(made, "limits: [one]");
    check_line(made, "limits: [{limit: one, status: 429}]");
    check_line(made, "one_2: {requests: 10, per: 1s, algorithm: token_bucket, burst: 10");
    REQUIRE(lost(made).size() == 1);
    CHECK(
        lost(made)[0] == "nginx.conf:9:47: limit_req: nginx counts this and nginx.conf:6:12 in one "
                         "zone, with other numbers; the draft counts each by itself");
}

TEST_CASE("a location's own limit_req replaces those around it, and return has none") {
    const Imported made = served(
        "listen 80; limit_req zone=one;\n"
        "location /a/ { limit_req zone=two; proxy_pass http://127.0.0.1:1; }\n"
        "location /b/ { return 403; }\n",
        zones + "limit_req_zone $host zone=two:1m rate=1r/m;");
    check_line(made, "limits: [two]");
    check_line(made, "# No limits: nginx answers this before it counts.");
    check_line(made, "two: {requests: 1, per: 1m, algorithm: token_bucket, burst: 1, key: host");
    CHECK(lost(made).empty());
}

TEST_CASE("keys of zones") {
    struct Case {
        std::string key, expected;
    };
    for (const Case& each : std::vector<Case>{
             {"$remote_addr", "key: client_ip, ipv6_prefix: 128"},
             {"$http_x_api_key", "key: \"header:x-api-key\", missing_key: exempt"},
             {"$cookie_session", "key: \"cookie:session\", missing_key: exempt"},
             {"$arg_user", "key: \"query:user\", missing_key: exempt"},
             {"$binary_remote_addr$uri",
              "key: [client_ip, path], missing_key: partial, ipv6_prefix: 128"},
             {"$http_a:$http_b", "key: [\"header:a\", \"header:b\"], missing_key: partial"},
             {"x$http_a", "key: \"header:a\", status: 503"},
             {"all", "status: 503"},
             {"$request_method", "key: method, status"},
         }) {
        CAPTURE(each.key);
        const Imported made =
            limited("limit_conn z 1;", "limit_conn_zone " + each.key + " zone=z:1m;");
        check_line(made, "z: {concurrent: 1, " + each.expected);
        CHECK(lost(made).empty());
    }
    check_line(
        limited("limit_conn z 1;", "limit_conn_zone $http_host zone=z:1m;"),
        "# Not the same: nginx counts each spelling of the host, with its letter case and port");
    const Imported none = limited("limit_conn z 1;", "limit_conn_zone $request_uri zone=z:1m;");
    REQUIRE(lost(none).size() == 1);
    CHECK(lost(none)[0].find("Stint has no source of keys like $request_uri") != std::string::npos);
    CHECK(none.draft.find("limits:") == std::string::npos);
    CHECK(
        lost(limited("limit_conn gone 1;", ""))
            .front()
            .find("no limit_conn_zone defines the zone "
                  "\"gone\"") != std::string::npos);
}

TEST_CASE("keys of zones by map and geo: networks that are exempt") {
    const std::string geo = "geo $limited { default 1; 10.0.0.0/8 0; 192.0.2.7 0; }\n";
    const std::string map = "map $limited $key { 0 \"\"; 1 $binary_remote_addr; }\n";
    const std::string zone = "limit_req_zone $key zone=one:1m rate=1r/s;";
    check_line(
        limited("limit_req zone=one;", geo + map + zone),
        "one: {requests: 1, per: 1s, algorithm: token_bucket, burst: 1, key: client_ip, "
        "ipv6_prefix: "
        "128, exempt: [\"10.0.0.0/8\", \"192.0.2.7\"], status: 503}");
    check_line(
        limited(
            "limit_req zone=one;",
            "map $remote_addr $key { default $binary_remote_addr; 10.0.0.1 \"\"; }\n" + zone),
        "one: {requests: 1, per: 1s, algorithm: token_bucket, burst: 1, key: client_ip, "
        "ipv6_prefix: 128, exempt: [\"10.0.0.1\"], status: 503}");
    for (const std::string& other : std::vector<std::string>{
             "geo $limited { default 0; 10.0.0.0/8 1; }\n" + map,
             "geo $limited { default 1; 10.0.0.0/8 0; 10.1.0.0/16 1; }\n" + map,
             "map $http_x $key { default $binary_remote_addr; y \"\"; }\n",
             "map $key $key { default $key; }\n",
             "map $remote_addr $key { default $binary_remote_addr; 10.0.0.0/8 \"\"; }\n",
             "map $binary_remote_addr $key { default $binary_remote_addr; 10.0.0.1 \"\"; }\n"}) {
        CAPTURE(other);
        CHECK(lost(limited("limit_req zone=one;", other + zone)).size() == 1);
    }
}

TEST_CASE("$server_name: nothing is counted for a server without a name") {
    const Imported made = limited("limit_conn z 1;", "limit_conn_zone $server_name zone=z:1m;");
    CHECK(made.draft.find("limits:") == std::string::npos);
    CHECK(lost(made).empty());
}

TEST_CASE("$server_name: a limit of each server") {
    const Imported made =
        imported("http { limit_req_zone $server_name zone=z:1m rate=5r/s; limit_req zone=z;\n"
                 "server { listen 80; server_name a.example; location / { proxy_pass "
                 "http://127.0.0.1:1; } }\n"
                 "server { listen 80; server_name b.example; location / { proxy_pass "
                 "http://127.0.0.1:1; } } }");
    check_line(
        made,
        "z_a.example: {requests: 5, per: 1s, algorithm: token_bucket, burst: 1, status: 503}");
    check_line(made, "z_b.example: {requests: 5");
    check_line(made, "limits: [z_b.example]");
    CHECK(lost(made).empty());
}
