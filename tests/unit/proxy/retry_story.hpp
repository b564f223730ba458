// What requests that are sent once more are tested with.
#pragma once

#include "fixture.hpp"
#include "net/clock.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

namespace stint::test {

inline constexpr std::string_view unavailable =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";
inline constexpr std::string_view charged =
    "limits: {slot: {concurrent: 1}, quota: {requests: 2, per: 1h}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot, quota]}]";
inline constexpr std::string_view put_of_four =
    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";

// Two endpoints, of which the first gets the first request.
struct Story {
    explicit Story(std::string retry = "{}", std::string_view routes = plain, unsigned room = 0)
        : gateway{
              routes,
              InProcessGateway::TwoEndpoints{.settings = "retry: " + retry, .room = room}} {}

    // A request, as it reaches the first endpoint.
    Wire ask(std::string_view request = get) {
        client.send(request);
        Wire wire = gateway.upstream.accept();
        first_head = wire.read_head();
        return wire;
    }
    // What the client gets when nobody is asked once more.
    void check_passed_on(std::string_view status, int retries = 0) {
        CHECK(client.read_head().starts_with(std::string{"HTTP/1.1 "}.append(status).append(" ")));
        gateway.settle();
        CHECK_FALSE(gateway.second.called());
        CHECK_FALSE(gateway.upstream.called());
        CHECK(gateway.to_upstream().retries == static_cast<std::uint64_t>(retries));
    }
    // The second endpoint gets the same request, and answers it.
    void check_retried() {
        Wire again = gateway.second.accept();
        CHECK(again.read_head() == first_head);
        again.send(ok);
        CHECK(read_response(client).starts_with("HTTP/1.1 200 "));
        gateway.settle();
        CHECK(gateway.to_upstream().retries == 1);
        CHECK(gateway.ended(Outcome::forwarded, 2) == 1);
        CHECK(gateway.endpoint(0).in_flight() == 0);
        CHECK(gateway.endpoint(1).in_flight() == 0);
    }

    upstream::RetryBudget& budget() {
        return gateway.context().active->origins.at(0)->cluster().retry_budget();
    }
    // Retries enough for what the test does, or none: those that are always allowed are used, in
    // the seconds to come too.
    void widen_budget() {
        for (int i = 0; i < 100; ++i)
            budget().note_request(net::read_steady_clock());
    }
    void use_up_budget() {
        for (auto at = 0s; at < 9s; at += 1s)
            budget().note_retry(net::read_steady_clock() + at);
    }
    bool within_budget() { return budget().allows(net::read_steady_clock(), 1); }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    std::string first_head;
};

// A request while one endpoint, or both, refuse connections.
struct Refusing {
    explicit Refusing(std::string_view retry, bool both) {
        story.emplace(std::string{retry});
        story->gateway.upstream.close();
        if (both)
            story->gateway.second.close();
        story->client.send(get);
    }
    std::optional<Story> story;
};

} // namespace stint::test
