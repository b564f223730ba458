#include "admin/reload.hpp"

#include <doctest/doctest.h>

#include <chrono>
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
        {.applied = false, .errors = {{"s.yaml:1:2: bad"}, {"s.yaml:3:4: worse"}}, .notes = {}}, 7);

    CHECK(response.status == 422);
    CHECK(response.content_type == "application/problem+json");
    const Json body = Json::parse(response.body);
    CHECK(body["applied"] == false);
    CHECK(body["generation"] == 7);
    CHECK(body["errors"] == Json::array({"s.yaml:1:2: bad", "s.yaml:3:4: worse"}));
}

TEST_CASE("the last reload is told with its cause, its result, and what is in force") {
    using namespace std::chrono_literals;
    const runtime::LastReload last{
        WallTime{1s},
        runtime::ReloadCause::watch,
        {.applied = true, .errors = {}, .notes = {"workers: takes effect with a restart"}}};

    CHECK(
        last_reload_json(last, 7, "abc", false) ==
        Json{
            {"at", "1970-01-01T00:00:01.000Z"},
            {"by", "watch"},
            {"applied", true},
            {"notes", {"workers: takes effect with a restart"}},
            {"generation", 7},
            {"config_sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}});
}

TEST_CASE("a start is told as the last reload until there is one") {
    const Json json = last_reload_json({}, 1, "", true);
    CHECK(json["by"] == "start");
    CHECK(json["applied"] == true);
}

TEST_CASE("errors have texts of the file only for those who may reload") {
    const runtime::LastReload last{
        {},
        runtime::ReloadCause::signal,
        {.applied = false,
         .errors =
             {{"/etc/s.yaml:1:2: \"sec\"ret\" is bad; did you mean \"a\"?", "/etc/s.yaml:1:2"},
              {"s:4:yaml:30:41: routes[0].request.set_headers.s3cr3t: found nothing",
               "s:4:yaml:30:41"},
              {"127.0.0.1:80 cannot be opened: Address already in use"}},
         .notes = {}}};

    CHECK(
        last_reload_json(last, 7, "", true)["errors"] ==
        Json::array(
            {last.report.errors[0].text, last.report.errors[1].text, last.report.errors[2].text}));
    CHECK(
        last_reload_json(last, 7, "", false)["errors"] ==
        Json::array(
            {"/etc/s.yaml:1:2", "s:4:yaml:30:41",
             "127.0.0.1:80 cannot be opened: Address already in use"}));
}
