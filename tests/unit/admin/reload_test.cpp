#include "admin/reload.hpp"

#include <doctest/doctest.h>

#include <ostream>

using namespace stint;
using namespace stint::admin;

TEST_CASE("a reload that was applied is answered with its generation and notes") {
    const Response response =
        reload_response({.applied = true, .errors = {}, .notes = {"limit a: begins anew"}}, 7);

    CHECK(response.status == 200);
    CHECK(
        Json::parse(response.body) ==
        Json{{"applied", true}, {"generation", 7}, {"notes", {"limit a: begins anew"}}});
}

TEST_CASE("a reload that was refused is answered with every error") {
    const Response response = reload_response(
        {.applied = false, .errors = {"s.yaml:1:2: bad", "s.yaml:3:4: worse"}, .notes = {}}, 7);

    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const Json body = Json::parse(response.body);
    CHECK(body["applied"] == false);
    CHECK(body["generation"] == 7);
    CHECK(body["errors"] == Json::array({"s.yaml:1:2: bad", "s.yaml:3:4: worse"}));
}
