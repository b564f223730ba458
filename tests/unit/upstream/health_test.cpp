// Active checks: what a row of results says, and what a check asks.
#include "fixture.hpp"
#include "upstream/health_check.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

using namespace stint::upstream;
using namespace stint::upstream::test;
using stint::Duration;

namespace {

constexpr HealthRules rules{.healthy_after = 2, .unhealthy_after = 3};

// The states after each result, "+" for passed: "h" healthy, "u" not; capital where it changed.
std::string states(std::string_view results) {
    HealthRecord record;
    std::string text;
    for (const char result : results) {
        const bool changed = record.note(result == '+', rules);
        text += record.healthy() ? (changed ? 'H' : 'h') : (changed ? 'U' : 'u');
    }
    return text;
}

HealthSpec spec(Duration interval = 1h) {
    HealthSpec made;
    made.path = "/up";
    made.host = "shop";
    made.interval = interval;
    made.timeout = 10s;
    made.expect = {{200, 299}, {401, 401}};
    return made;
}

// A check of an endpoint that the test plays; it asks at once.
struct Checked {
    explicit Checked(const HealthSpec& of) {
        check = std::make_shared<HealthCheck>(
            loop.get_executor(), "shop", of, state,
            std::vector<stint::net::Endpoint>{listening.address()});
        check->start(0s);
    }
    ~Checked() {
        check->stop();
        check.reset();
        settle();
    }
    void settle() {
        loop.restart();
        while (loop.poll() > 0) {
        }
    }
    void answer(std::string_view bytes) {
        Wire wire = listening.accept();
        request = wire.read_head();
        wire.send(bytes);
        const auto before = state->checks_passed() + state->checks_failed();
        stint::test::run_until(
            loop, [&] { return state->checks_passed() + state->checks_failed() > before; });
    }

    stint::net::asio::io_context loop;
    ListeningWire listening{loop};
    EndpointStatePtr state = std::make_shared<EndpointState>("a:1");
    std::shared_ptr<HealthCheck> check;
    std::string request;
};

} // namespace

TEST_CASE("an endpoint is believed ill after so many failures in a row, and well after passes") {
    CHECK(states("+--+--+") == "hhhhhhh");
    CHECK(states("---") == "hhU");
    CHECK(states("---+-++") == "hhUuuuH");
    CHECK(states("-----++--") == "hhUuuuHhh");
}

TEST_CASE("checks begin an interval apart and never overlap") {
    CHECK(next_check_at(at(0s), at(1s), 5s) == at(5s));
    CHECK(next_check_at(at(0s), at(7s), 5s) == at(7s));
}

TEST_CASE("a check asks as a proxied request would, and looks at the status") {
    Checked checked{spec()};

    checked.answer("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");

    CHECK(checked.request.starts_with("GET /up HTTP/1.1\r\nHost: shop\r\n"));
    CHECK(checked.state->last_check().passed);
    CHECK(checked.state->last_check().found == "204");
    CHECK(checked.state->healthy());
    CHECK(checked.state->next_check() > checked.state->last_check().at);
}

TEST_CASE("a status that is not expected, or none, is a failure") {
    std::string_view bytes;
    std::string found;
    SUBCASE("another status") {
        bytes = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
        found = "503";
    }
    SUBCASE("not HTTP") {
        bytes = "SSH-2.0\r\n\r\n";
        found = "a bad response";
    }
    Checked checked{spec()};
    checked.answer(bytes);

    CHECK(checked.state->checks_failed() == 1);
    CHECK(checked.state->last_check().found.starts_with(found));
    CHECK_FALSE(checked.state->healthy()); // the first failure is enough here
}

TEST_CASE("an endpoint that passes again is up again, and back as of now") {
    Checked checked{spec(1ms)};
    checked.answer("HTTP/1.1 500 Oh\r\n\r\n");
    REQUIRE_FALSE(checked.state->healthy());

    checked.answer("HTTP/1.1 401 Unauthorized\r\n\r\n");

    CHECK(checked.state->healthy());
    CHECK(checked.state->back_since() > stint::SteadyTime{});
}

TEST_CASE("a check that takes too long fails") {
    HealthSpec hasty = spec();
    hasty.timeout = 20ms;
    Checked checked{hasty};
    Wire wire = checked.listening.accept();
    stint::test::run_until(checked.loop, [&] { return checked.state->checks_failed() == 1; });

    CHECK(checked.state->last_check().found == "took too long");
    wire.wait_closed();
}

TEST_CASE("a check ends at once when it is told to") {
    Checked checked{spec()};
    Wire wire = checked.listening.accept();
    wire.read_head();

    checked.check->stop();

    wire.wait_closed();
    CHECK(checked.state->checks_failed() == 0);
    CHECK(checked.state->healthy());
    std::weak_ptr<HealthCheck> left = checked.check;
    checked.check.reset();
    checked.settle();
    CHECK(left.expired());
    checked.check = std::make_shared<HealthCheck>(
        checked.loop.get_executor(), "shop", spec(), checked.state,
        std::vector<stint::net::Endpoint>{});
}
