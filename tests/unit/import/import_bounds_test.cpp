#include "config/load.hpp"
#include "fixture.hpp"

using namespace stint::import_nginx::test;
using stint::import_nginx::Imported;

TEST_CASE("a named location is followed once: rings of try_files end") {
    for (const std::string& named : std::vector<std::string>{
             "location @a { try_files $uri @a; }",
             "location @a { try_files $uri @b; } location @b { try_files $uri @a; }"}) {
        CAPTURE(named);
        const Imported made =
            served("listen 80;\nlocation / { try_files $uri @a; }\n" + named + "\n");
        check_line(made, "respond: {status: 501}");
        CHECK(lost(made).size() >= 2);
        CHECK(stint::config::load_text(made.draft, "draft").has_value());
    }
    const Imported chain = served("listen 80;\nlocation / { try_files $uri @a; }\n"
                                  "location @a { try_files $uri @b; }\n"
                                  "location @b { proxy_pass http://127.0.0.1:1; }\n");
    CHECK(chain.draft.find("upstream: ") == std::string::npos);
    CHECK(
        lost(chain) ==
        std::vector<std::string>{
            "nginx.conf:5:14: try_files: Stint serves no files; all requests go to @a",
            "nginx.conf:6:1: location: nginx answers it itself or with files; the draft answers "
            "501: name an upstream there",
            "nginx.conf:7:1: location: no location that has a route hands requests to it; left "
            "out"});
}

TEST_CASE("a draft has a bounded number of routes; one that would need more refuses everything") {
    std::string names, locations;
    for (int i = 0; i < 250; ++i) {
        names += " n" + std::to_string(i) + ".example";
        locations += "location /" + std::to_string(i) + "/ { proxy_pass http://127.0.0.1:1; }\n";
    }
    const std::string other = "server { listen 80; location / { proxy_pass http://127.0.0.1:2; } }";
    const auto with = [&](const std::string& server_name) {
        return imported(
            "http { " + other + "\nserver { listen 80; server_name" + server_name + ";\n" +
            locations + "} }");
    };
    CHECK(lost(with(" n1.example")).empty());
    const Imported made = with(names);
    REQUIRE(lost(made).size() == 1);
    CHECK(
        lost(made)[0] == "nginx.conf:2:1: server: the draft would have more than 50000 routes, one "
                         "for each name and location; it refuses (501) everything");
    CHECK(made.draft.size() < 10'000);
    check_line(made, "respond: {status: 501}");
    CHECK(made.draft.find("upstream: ") == std::string::npos);
    CHECK(stint::config::load_text(made.draft, "draft").has_value());
}

TEST_CASE("a server has a bounded number of locations") {
    std::string locations;
    for (int i = 0; i < 10'001; ++i)
        locations += "location = /" + std::to_string(i) + " { return 204; }\n";
    const Imported made = served("listen 80;\n" + locations);
    REQUIRE(lost(made).size() == 1);
    CHECK(
        lost(made)[0] == "nginx.conf:3:1: server: has more than 10000 locations; the draft refuses "
                         "(501) everything");
    CHECK(made.draft.size() < 10'000);
}
