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
