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
