#include "config/load.hpp"
#include "runtime/check_warnings.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;

namespace {

std::vector<std::string> notes_on(std::string_view permits) {
    const auto config = config::load_text(
        std::string{permits} +
            "listeners: [{address: 127.0.0.1:1}]\n"
            "limits:\n"
            "  window: {requests: 1, per: 1s}\n"
            "  slots: {concurrent: 1}\n"
            "  told: {requests: 9, per: 1s, cost: header:X-Cost, reserve: 5}\n"
            "  good: {requests: 9, per: 1s, count_when: {status: [200]}}\n"
            "  back: {requests: 9, per: 1s, refund: [503]}\n"
            "  unused: {concurrent: 1}\n"
            "routes:\n"
            "  - {name: a, match: {path: /a}, respond: {status: 204}, limits: [window, slots]}\n"
            "  - {name: b, respond: {status: 204}, limits: [told, good, back]}\n",
        "test");
    REQUIRE(config.has_value());
    return runtime::check_warnings(*config);
}

} // namespace

TEST_CASE("each limit of a route that /v1/check does not charge is named, with why") {
    CHECK(
        notes_on("permits: {address: 127.0.0.1:2}\n") ==
        std::vector<std::string>{
            "the route a: /v1/check does not charge the limit slots, which is a cap, whose slot "
            "the request's end frees",
            "the route b: /v1/check does not charge the limit told, which learns its cost from the "
            "answer",
            "the route b: /v1/check does not charge the limit good, which counts by the answer's "
            "status",
            "the route b: /v1/check does not charge the limit back, which counts by the answer's "
            "status"});
}

TEST_CASE("what /v1/check leaves out of locks is named, too") {
    const auto config = config::load_text(
        "permits: {address: 127.0.0.1:2}\n"
        "listeners: [{address: 127.0.0.1:1}]\n"
        "locks: {jobs: {}}\n"
        "routes:\n"
        "  - {name: a, respond: {status: 204}, limits: [{lock: jobs}], require_fence: jobs}\n",
        "test");
    REQUIRE(config.has_value());

    CHECK(
        runtime::check_warnings(*config) ==
        std::vector<std::string>{
            "the route a: /v1/check does not look at the X-Stint-Fence that require_fence asks for",
            "the route a: /v1/check does not charge the limit lock:jobs, which is a lock, whose "
            "slot the request's end frees"});
}

TEST_CASE("without permits nobody asks, and nothing is noted") {
    CHECK(notes_on("").empty());
}
