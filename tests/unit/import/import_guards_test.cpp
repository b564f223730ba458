// What only some clients may see in nginx is refused by the draft.
#include "config/load.hpp"
#include "fixture.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;

namespace {

const std::string refusing = "if ($http_x = \"\") { return 403; }\n";
const std::string to_app = "location / { proxy_pass http://127.0.0.1:1; }\n";

std::size_t count(const Imported& made, const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = made.draft.find(text, at)) != std::string::npos; ++at)
        ++found;
    return found;
}

std::size_t refused(const Imported& made) {
    return count(made, "respond: {status: 403}");
}

bool serves(const Imported& made, const std::string& what) {
    return made.draft.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("an if that refuses comes before a return") {
    for (const std::string& guarded : std::vector<std::string>{
             "location / { " + refusing + "return 200 secret; }",
             "location / { return 200 secret; }\n" + refusing, refusing + "return 200 secret;",
             refusing + "if ($host = a.example) { return 200 secret; } server_name a.example;\n" +
                 to_app,
             "location / { " + refusing + "try_files $uri @a; } location @a { return 200 secret; }",
             "location / { auth_basic x; try_files $uri @a; } location @a { return 200 secret; }",
             "location / { deny all; try_files $uri @a; } location @a { return 200 secret; }",
             "location / { rewrite_by_lua_block { x } return 200 secret; }"}) {
        CAPTURE(guarded);
        const Imported made = served("listen 80;\n" + guarded);
        CAPTURE(made.draft);
        CHECK_FALSE(serves(made, "body: secret"));
        CHECK(refused(made) >= 1);
        CHECK(stint::config::load_text(made.draft, "draft").has_value());
    }
}

TEST_CASE("a return before an if that refuses answers all, and access rules come after a return") {
    for (const std::string& open : std::vector<std::string>{
             "location / { return 200 open; " + refusing + "}", "return 200 open;\n" + refusing,
             "location / { deny all; auth_basic x; return 200 open; }"}) {
        CAPTURE(open);
        const Imported made = served("listen 80;\n" + open);
        CHECK(serves(made, "body: open"));
        CHECK(refused(made) == 0);
    }
}

TEST_CASE("a listener with an if that refuses does not only redirect to https") {
    const std::string tls = "server { listen 443 ssl; server_name b.example; ssl_certificate c;\n"
                            "ssl_certificate_key k; " +
                            to_app + "}\n";
    for (const std::string& clear : std::vector<std::string>{
             refusing + "return 301 https://$host$request_uri;",
             refusing + "location / { return 301 https://$host$request_uri; }",
             "location / { " + refusing + "return 301 https://$host$request_uri; }"}) {
        CAPTURE(clear);
        const Imported made = imported(
            "http { server { listen 80; server_name a.example;\n" + clear + " } " + tls + "}");
        CHECK_FALSE(serves(made, "redirect: "));
        CHECK_FALSE(serves(made, "redirect_http: "));
        CHECK(refused(made) == 1);
    }
}

TEST_CASE("clients are asked for certificates wherever nginx asks them") {
    const std::string ca = "ssl_client_certificate /ca;", verify = "ssl_verify_client on;",
                      trusted = "ssl_trusted_certificate /trusted;";
    const auto with = [](const std::string& http, const std::string& server) {
        return served(
            "listen 443 ssl; ssl_certificate /c; ssl_certificate_key /k;\n" + server + to_app,
            http);
    };
    for (const Imported& made :
         {with("", ca + verify), with(ca, verify), with(verify, ca), with(ca + verify, "")}) {
        check_line(made, "client_ca: /ca");
        CHECK(lost(made).empty());
        CHECK(serves(made, "upstream: "));
    }
    const Imported both = with(ca + trusted, verify);
    check_line(both, "client_ca: /ca");
    CHECK(lost(both).size() == 1);
    check_line(with("", trusted + verify), "client_ca: /trusted");
    check_line(with(ca + "ssl_verify_client optional;", ""), "client_certificate: optional");
    const Imported off = with(ca + verify, "ssl_verify_client off;");
    CHECK_FALSE(serves(off, "client_ca"));
    CHECK(serves(off, "upstream: "));
    const Imported none = with("", "ssl_verify_client on;");
    CHECK(refused(none) == 1);
    REQUIRE(lost(none).size() == 1);
    CHECK(lost(none)[0].find("no CA by which clients could be verified") != std::string::npos);
    const Imported returned = with("", "ssl_verify_client on; return 200 secret;");
    CHECK_FALSE(serves(returned, "body: secret"));
}

TEST_CASE("a listener for which one server wants certificates wants them for all of its names") {
    const auto one = [](const std::string& verify) {
        return "server { listen 443 ssl; ssl_certificate /c; ssl_certificate_key /k; "
               "ssl_client_certificate /ca; ssl_verify_client " +
               verify + "; " + to_app + "}\n";
    };
    CHECK_FALSE(serves(imported("http { " + one("optional") + one("on") + " }"), "optional\n"));
    check_line(imported("http { " + one("optional") + " }"), "client_certificate: optional");
}
