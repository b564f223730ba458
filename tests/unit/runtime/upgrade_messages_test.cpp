// Messages between two processes: their bodies, and the channel.
#include "runtime/upgrade/channel.hpp"
#include "runtime/upgrade/messages.hpp"

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace {

using namespace stint;
using namespace stint::runtime;
using namespace std::chrono_literals;

HandedState some_state() {
    HandedState state;
    state.contents.own = {{"hash_key", std::string(16, '\1')}, {"fence", "12345678"}};
    state.contents.counters = {{"row", std::string("with a \0 in it", 14)}};
    state.contents.leases = {{"id", "lease"}};
    state.contents.changes = {{"target", "change"}};
    state.slots = {{"cap", {1, 2}, 3}};
    state.drained = {{"up", "127.0.0.1:80", {}, {"me", "a test"}}};
    state.reported = {{"limit", {4, 5}, {429, SteadyTime{7s}}}};
    state.ticket_keys = "keys";
    return state;
}

// Decodes all beginnings of the body: none is a whole message.
template <class Decode>
void check_cut(const std::string& body, Decode decode) {
    for (std::size_t size = 0; size < body.size(); ++size)
        CHECK_FALSE(decode(std::string_view{body}.substr(0, size)).has_value());
    CHECK_FALSE(decode(body + "x").has_value());
}

} // namespace

TEST_CASE("a state is what it was, and no part of it is one") {
    const std::string body = encode(some_state());

    const auto state = decode_state(body);

    REQUIRE(state.has_value());
    CHECK(encode(*state) == body);
    CHECK(state->contents.counters.front().value == std::string("with a \0 in it", 14));
    CHECK(state->slots.front().slots == 3);
    CHECK(state->reported.front().pause.end == SteadyTime{7s});
    CHECK(state->drained.front().by.why == "a test");
    check_cut(body, decode_state);
}

TEST_CASE("a connection is what it was") {
    server::HandedConnection connection{
        .socket = {},
        .client = *IpAddress::parse("2001:db8::1"),
        .received = "GET / HTTP/1.1\r\n",
        .permits = true,
        .half_close_allowed = true,
        .https_port = 8443,
        .secure = true,
        .tls_subject = "CN=a",
        .tls_version = "TLSv1.3",
        .last = true,
        .waiting_since = SteadyTime{5s}};
    const std::string body = encode(connection);

    const auto decoded = decode_connection(body);

    REQUIRE(decoded.has_value());
    CHECK(encode(*decoded) == body);
    CHECK(decoded->client == connection.client);
    CHECK(decoded->waiting_since == connection.waiting_since);
    check_cut(body, decode_connection);
}

TEST_CASE("what is given back, and pauses with and without a key, are what they were") {
    const std::string given = encode(GivenBack{"limit", {1, 2}, {3, 4, 5, -6, true}, 7});
    HandedPause pause{{"route:a", "host"}, {1, 2}, {503, SteadyTime{9s}}, {}};
    const std::string unkeyed = encode(pause);
    pause.key.emplace(Hash128{8, 9}, "example.org");
    const std::string keyed = encode(pause);

    CHECK(encode(*decode_given_back(given)) == given);
    CHECK(decode_given_back(given)->receipt.returned == -6);
    CHECK(encode(*decode_pause(unkeyed)) == unkeyed);
    CHECK(decode_pause(keyed)->key->second == "example.org");
    check_cut(given, decode_given_back);
    check_cut(unkeyed, decode_pause);
    check_cut(keyed, decode_pause);
}

TEST_CASE("a message of any size arrives whole, with its descriptors") {
    auto ends = Channel::pair();
    REQUIRE(ends.has_value());
    auto& [one, other] = *ends;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{32 * 1024}, std::size_t{32 * 1024 + 1},
          std::size_t{5'000'000}}) {
        CAPTURE(size);
        Message message{MessageKind::state, std::string(size, 'x')};
        message.descriptors.emplace_back(::dup(0));
        message.descriptors.emplace_back(::dup(1));

        REQUIRE_FALSE(one.send_now(message));
        const auto got = other.receive(10s);

        REQUIRE(got.has_value());
        CHECK(got->kind == MessageKind::state);
        CHECK(got->body == message.body);
        CHECK(got->descriptors.size() == 2);
    }
}

TEST_CASE("a channel without a message, without room and without another end says so") {
    auto ends = Channel::pair();
    REQUIRE(ends.has_value());
    auto [one, other] = std::move(*ends);
    CHECK(other.receive_now().error() == boost::asio::error::would_block);
    CHECK(other.receive(1ms).error() == boost::asio::error::timed_out);
    const Message message{MessageKind::connection, std::string(10'000, 'x')};
    int sent = 0;
    while (!one.send_now(message))
        ++sent;
    CHECK(one.send_now(message) == boost::asio::error::would_block);
    CHECK(one.send(message, 1ms) == boost::asio::error::timed_out);
    for (; sent > 0; --sent)
        CHECK(other.receive_now().has_value());

    one = Channel{};

    CHECK(other.receive_now().error() == boost::asio::error::eof);
    CHECK(other.send_now(message));
}
