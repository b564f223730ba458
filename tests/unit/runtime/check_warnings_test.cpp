#include "config/load.hpp"
#include "made_certificates.hpp"
#include "runtime/check_warnings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("each limit that /v1/check leaves out is named, with the reason") {
    CHECK(
        notes_on("permits: {address: 127.0.0.1:2}\n") ==
        std::vector<std::string>{
            "/v1/check leaves out the limit slots: it does not learn the request's end, which "
            "frees the slot",
            "/v1/check leaves out the limit told, the limit good, the limit back: it does not see "
            "the response's status",
            "/v1/check leaves out the response of the route a, the route b: it leaves the response "
            "to the proxy that asks, and says go",
            "stint simulate leaves out the response's cost of the limit told: it does not find the "
            "response's cost in the log, and charges what is reserved for it",
            "stint simulate leaves out X-Stint-Permit of permits: it does not find in the log "
            "which permits were acquired"});
}

TEST_CASE("without permits no other proxy asks, and nothing is noted of /v1/check") {
    CHECK(
        notes_on("") == std::vector<std::string>{
                            "stint simulate leaves out the response's cost of the limit told: it "
                            "does not find the response's cost in the log, and charges what is "
                            "reserved for it"});
}

TEST_CASE("the differences of routes and listeners are named, too") {
    const auto config = config::load_text(
        "permits: {address: 127.0.0.1:2}\n"
        "listeners: [{address: 127.0.0.1:1, redirect_http: 443}]\n"
        "locks: {jobs: {}}\n"
        "upstreams: {up: {endpoints: [127.0.0.1:3], cooldown: {when_paused: wait}}}\n"
        "routes: [{name: a, upstream: up, max_body: 1MiB, require_fence: jobs}]\n",
        "test");
    REQUIRE(config.has_value());

    CHECK(
        runtime::check_warnings(*config) ==
        std::vector<std::string>{
            "/v1/check leaves out redirect_http of the listener 127.0.0.1:1: it has no listener of "
            "this gateway to redirect from",
            "/v1/check leaves out max_body of the route a: it does not get the request's body",
            "/v1/check leaves out when_paused: wait of the route a: it does not send the request, "
            "so it could not report the answer to the pause's probe",
            "POST /explain leaves out redirect_http of the listener 127.0.0.1:1: it describes a "
            "request without naming a listener",
            "POST /explain leaves out max_body of the route a: it describes a request without its "
            "body",
            "stint simulate leaves out redirect_http of the listener 127.0.0.1:1: it does not find "
            "the request's listener in the log",
            "stint simulate leaves out max_body of the route a: it does not find the announced "
            "length in the log",
            "stint simulate leaves out require_fence of the route a: it does not find in the log "
            "which fencing number was the newest",
            "stint simulate leaves out the cooldown of the route a: it does not find in the log "
            "for how long to pause",
            "stint simulate leaves out when_paused: wait of the route a: it does not find in the "
            "log for how long to pause",
            "stint simulate leaves out X-Stint-Permit of permits: it does not find in the log "
            "which permits were acquired"});
}

TEST_CASE("each key that reads the client's certificate is noted") {
    const tls::Folder folder;
    const std::string pem = folder.write("any.pem", "");
    const auto config = config::load_text(
        "listeners: [{address: 127.0.0.1:1, tls: {certificate: " + pem + ", key: " + pem +
            ", client_ca: " + pem +
            "}}]\n"
            "upstreams: {up: {endpoints: [127.0.0.1:3],"
            " cooldown: {scope: key, key: \"tls:subject\"}}}\n"
            "limits:\n"
            "  queued: {requests: 1, per: 1s, when_exceeded: wait, fair_by: \"tls:subject\"}\n"
            "  reserved: {requests: 1, per: 1s, retry_after: reserve,"
            " reserve_for: \"tls:subject\"}\n"
            "  other: {requests: 1, per: 1s}\n"
            "routes: [{name: a, match: {path: /a}, upstream: up, limits: [queued, other]},"
            " {name: b, upstream: up, cooldown: off, limits: [reserved]}]\n",
        "test");
    REQUIRE(config.has_value());

    const std::vector<std::string> notes = runtime::check_warnings(*config);

    CHECK(
        std::ranges::count(
            notes, "stint simulate leaves out tls:subject of the limit queued, the limit reserved, "
                   "the route a: it does not find the client's certificate in the log") == 1);
}
