#include "config/load.hpp"
#include "fixture.hpp"
#include "import/draft/matches.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;
using stint::import_nginx::whole_path_regex;

namespace {

// A location that forwards to one address.
Imported located(const std::string& location, const std::string& more = {}) {
    return served(
        "listen 80; location " + location + " { proxy_pass http://127.0.0.1:1; " + more + " }");
}

Imported forwarded(
    const std::string& target, const std::string& more = {}, const std::string& path = "/a/") {
    return served("listen 80; location " + path + " { proxy_pass " + target + "; " + more + " }");
}

} // namespace

TEST_CASE("regular expressions of nginx, which may match anywhere, as ones of whole paths") {
    struct Case {
        std::string nginx, whole;
    };
    for (const Case& one : std::vector<Case>{
             {"^/a/[0-9]+$", "/a/[0-9]+"},
             {"\\.php$", ".*\\.php"},
             {"^/a", "/a.*"},
             {"/a", ".*/a.*"},
             {"^/a.*", "/a.*"},
             {"a\\$", ".*a\\$.*"},
             {"^/a|/b$", ".*(?:^/a|/b$).*"},
             {"^/(a|b)$", "/(a|b)"},
             {"^/[|]$", "/[|]"},
             {"^/(?<id>\\d+)$", "/(?P<id>\\d+)"},
             {"(?<!x)y", ".*(?<!x)y.*"},
         }) {
        CAPTURE(one.nginx);
        CHECK(whole_path_regex(one.nginx, false) == one.whole);
        CHECK(whole_path_regex(one.nginx, true) == "(?i)" + one.whole);
    }
}

TEST_CASE("locations: exact, prefix to a slash, prefix within a segment, regular expression") {
    check_line(located("= /a"), "match: {path_exact: /a}");
    check_line(located("/a/"), "match: {path: /a/}");
    check_line(located("/"), "match: {path: /}");
    check_line(located("/a.b"), "match: {path_regex: \"/a\\\\.b.*\"}");
    check_line(located("~ ^/a/\\d+$"), "match: {path_regex: \"/a/\\\\d+\"}");
    check_line(located("~*\\.PHP$"), "match: {path_regex: \"(?i).*\\\\.PHP\"}");
    check_line(located("^~ /a/"), "match: {path: /a/}");
    check_line(located("\"/a b/\""), "match: {path: \"/a%20b/\"}");
    CHECK(lost(located("~ ^/(?!b)")).size() == 1);
    CHECK(lost(located("\"/a;b\"")).size() == 1);
    CHECK(lost(located("@named")).size() == 1);
}

TEST_CASE("locations: those that only a server has are answered as nginx does") {
    const Imported made = served(
        "listen 80; root /var/www;\n"
        "location /files/ { }\n"
        "location /hidden/ { internal; proxy_pass http://127.0.0.1:1; }\n"
        "location /closed/ { deny all; proxy_pass http://127.0.0.1:1; }\n"
        "location /secret/ { auth_basic x; proxy_pass http://127.0.0.1:1; }\n"
        "location /mine/ { allow 10.0.0.1; deny all; proxy_pass http://127.0.0.1:1; }\n"
        "location /most/ { deny 10.0.0.1; deny 10.1.0.0/16; proxy_pass http://127.0.0.1:1; }\n"
        "location /if/ { if ($http_x) { return 403; } proxy_pass http://127.0.0.1:1; }\n"
        "location /php/ { fastcgi_pass 127.0.0.1:9000; }\n");
    CHECK(made.draft.find("upstream: 127.0.0.1_1") == made.draft.rfind("upstream: 127.0.0.1_1"));
    check_line(
        made, "denied: {requests: 1000000000000, per: 1s, deny: [\"10.0.0.1\", \"10.1.0.0/16\"]}");
    check_line(made, "limits: [denied]");
    check_line(made, "name: rest");
    std::size_t refused = 0;
    for (std::size_t at = 0;
         (at = made.draft.find("respond: {status: 403}", at)) != std::string::npos; ++at)
        ++refused;
    CHECK(refused == 4);
    CHECK(
        lost(made).size() ==
        7); // all but hidden, closed and most, and the rest of the server twice
}

TEST_CASE("guards: each must be off, and an if of a server guards all of its locations") {
    const Imported made =
        served("listen 80; location /a/ { auth_request off; proxy_pass http://127.0.0.1:1; }\n"
               "location /b/ { auth_request off; auth_basic off; proxy_pass http://127.0.0.1:1; }\n"
               "auth_basic x; auth_request /check;");
    CHECK(made.draft.find("upstream: ") == made.draft.rfind("upstream: "));
    check_line(made, "match: {path: /b/}");
    const Imported all =
        served("listen 80; location / { auth_basic off; proxy_pass http://127.0.0.1:1; }\n"
               "if ($http_x = y) { return 403; }");
    CHECK(all.draft.find("upstream: ") == std::string::npos);
}

TEST_CASE("proxy_pass: paths") {
    check_line(forwarded("http://app:1"), "host: \"app:1\"");
    CHECK(forwarded("http://app:1").draft.find("rewrite") == std::string::npos);
    check_line(forwarded("http://app:1/"), "strip_prefix: /a");
    check_line(forwarded("http://app:1/b/"), "rewrite: /b");
    check_line(forwarded("http://app:1/b"), "rewrite: {regex: \"/a/(.*)\", to: \"/b\\\\1\"}");
    check_line(
        forwarded("http://app:1/b", "", "/a"), "rewrite: {regex: \"/a(.*)\", to: \"/b\\\\1\"}");
    check_line(forwarded("http://app:1/b", "", "= /a"), "rewrite: /b");
    check_line(
        forwarded("http://app:1", "rewrite ^/a/(.*)$ /c/$1 break;"),
        "rewrite: {regex: \"/a/(.*)\", to: \"/c/\\\\1\"}");
    check_line(forwarded("http://unix:/run/app.sock:/b/"), "endpoints:");
    check_line(forwarded("http://unix:/run/app.sock"), "\"unix:/run/app.sock\"");
    check_line(forwarded("https://app.example"), "\"https://app.example:443\"");
    CHECK(lost(forwarded("http://$backend")).size() == 1);
    check_line(forwarded("http://$backend"), "respond: {status: 501}");
    check_line(forwarded("http://$backend", "set $backend app:8080;"), "upstream: app_8080");
    CHECK(lost(forwarded("http://$backend", "set $backend app; set $backend b;")).size() == 1);
}

TEST_CASE("proxy_set_header: Stint's own fields, placeholders, removals, secrets") {
    const Imported made = forwarded(
        "http://app:1",
        "proxy_set_header Host $host; proxy_set_header X-Forwarded-For "
        "$proxy_add_x_forwarded_for;\n"
        "proxy_set_header X-Real-IP $remote_addr; proxy_set_header Accept-Encoding \"\";\n"
        "proxy_set_header Authorization \"Bearer s3cret-${x}\"; proxy_set_header X-Key \"s3cret "
        "{host}\";\n"
        "proxy_set_header X-Forwarded-Port $server_port; proxy_set_header X-Env \"${y}s3cret\";\n"
        "proxy_set_header X-Good s3cret;");
    check_line(made, "host: keep");
    check_line(made, "set_headers: {X-Real-IP: \"{client_ip}\", X-Good: s3cret}");
    check_line(made, "remove_headers: [Accept-Encoding]");
    CHECK(lost(made).size() == 4);
    for (const auto& finding : made.findings)
        CHECK(finding.text().find("s3cret") == std::string::npos);
    check_line(made, "upgrade: off");
    CHECK(
        forwarded("http://app:1", "proxy_set_header Upgrade $http_upgrade;")
            .draft.find("upgrade:") == std::string::npos);
}

TEST_CASE("return: redirects and answers") {
    const auto returned = [](const std::string& what) {
        return served("listen 80; server_name a.example; location /x/ { return " + what + "; }");
    };
    check_line(
        returned("301 https://b.example$request_uri"),
        "redirect: {to: \"https://b.example{path}{?query}\", status: 301}");
    check_line(
        returned("https://b.example/"), "redirect: {to: \"https://b.example/\", status: 302}");
    check_line(
        returned("308 $scheme://$server_name/y"),
        "redirect: {to: \"http://a.example/y\", status: 308}");
    check_line(returned("404"), "respond: {status: 404}");
    check_line(returned("200 '{\"a\": 1}'"), "respond: {status: 200, body: \"{\\\"a\\\": 1}\"");
    check_line(returned("204 x"), "respond: {status: 204}");
    CHECK(lost(returned("444")).size() == 1);
    CHECK(lost(returned("301 https://$1")).size() == 1);
    CHECK(lost(returned("200 $http_x")).size() == 1);
    CHECK(lost(returned("200 '{host}'")).size() == 1);
}

TEST_CASE("upstreams: endpoints, balance, retries") {
    const auto grouped = [](const std::string& inside) {
        return served(
            "listen 80; location / { proxy_pass http://app; }", "upstream app { " + inside + " }");
    };
    const Imported two = grouped("least_conn; server a:1 weight=3 max_conns=7; server 10.0.0.1;");
    check_line(two, "{address: \"a:1\", weight: 3, max_requests: 7}");
    check_line(two, "\"10.0.0.1:80\"");
    check_line(two, "balance: least_requests");
    check_line(two, "ejection: {failures: 1, for: 10s, most: 10s}");
    check_line(two, "retry: {\"on\": [connect, reset], attempts: 2, budget: 100%}");
    CHECK(lost(two).empty());
    check_line(grouped("hash $http_x consistent; server a:1;"), "hash_key: \"header:x\"");
    CHECK(grouped("server a:1; server b:1 down;").draft.find("b:1") == std::string::npos);
    CHECK(lost(grouped("server a:1; server b:1 backup;")).size() == 1);
    CHECK(lost(grouped("server a:1 what;")).size() == 1);
}
