// Http1Output on a socket that takes a few kilobytes at a time.
#include "server/http1_output.hpp"
#include "socket_pair.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using namespace stint;
using server::Http1Output;
using server::Sent;

namespace {

struct Client : test::SocketPair {
    Client() { io.socket().set_option(net::asio::socket_base::send_buffer_size{1}); }

    Sent copy(std::string_view message) {
        net::Gather gather = output.begin();
        gather.add(message);
        CHECK(output.own_bytes(gather) == message.size());
        return output.send_copied(io, gather);
    }
    Sent in_place(std::string_view message) {
        net::Gather gather = output.begin();
        gather.add(message);
        return output.send_in_place(io, gather);
    }
    // Reads what the client has until the output has nothing left, and returns all of it.
    std::string drain() {
        std::string text = take();
        for (Sent sent = Sent::part; sent == Sent::part; text += take()) {
            sent = output.send_kept(io);
            REQUIRE(sent != Sent::gone);
        }
        return text;
    }

    net::Stream io{std::move(near)};
    Http1Output output;
};

// Differs at each place, so that a byte lost, doubled or moved is seen.
std::string text_of(std::size_t size, char first) {
    std::string text;
    for (std::size_t at = 0; text.size() < size; ++at)
        text += first + std::to_string(at);
    text.resize(size);
    return text;
}

constexpr std::size_t large = 100'000;

} // namespace

TEST_CASE("a message that the socket takes is kept nowhere") {
    Client client;

    CHECK(client.copy("head") == Sent::all);
    CHECK(client.in_place(" body") == Sent::all);

    CHECK(client.output.empty());
    CHECK(client.take() == "head body");
}

TEST_CASE("a copy is kept of what the socket does not take") {
    Client client;
    std::string message = text_of(large, 'a');
    const std::string sent = message;

    CHECK(client.copy(message) == Sent::part);
    message.assign(message.size(), '!');

    CHECK_FALSE(client.output.empty());
    CHECK(client.drain() == sent);
    CHECK(client.output.empty());
}

TEST_CASE("kept bytes go before the next message") {
    const std::string first = text_of(large, 'a');
    const std::string second = text_of(large, 'b');
    Client client;
    REQUIRE(client.copy(first) == Sent::part);

    SUBCASE("that is copied") {
        CHECK(client.copy(second) == Sent::part);
    }
    SUBCASE("that stays in place") {
        CHECK(client.in_place(second) == Sent::part);
    }

    CHECK(client.drain() == first + second);
}

TEST_CASE("bytes in place are sent from where they are") {
    const std::string message = text_of(large, 'a');
    Client client;

    CHECK(client.in_place(message) == Sent::part);

    CHECK(client.drain() == message);
    CHECK(client.output.empty());
    CHECK(client.copy("next") == Sent::all);
    CHECK(client.take() == "next");
}

TEST_CASE("nothing is sent of no message, and all of it") {
    Client client;

    CHECK(client.output.send_kept(client.io) == Sent::all);
    CHECK(client.copy("") == Sent::all);
    CHECK(client.take().empty());
}

TEST_CASE("a client that has gone is told from one that reads slowly") {
    const std::string message = text_of(large, 'a');
    Client client;
    SUBCASE("before the message") {
        client.far.close();
        CHECK(client.copy(message) == Sent::gone);
        CHECK(client.in_place(message) == Sent::gone);
    }
    SUBCASE("while a copy is kept") {
        REQUIRE(client.copy(message) == Sent::part);
        client.far.close();
        CHECK(client.output.send_kept(client.io) == Sent::gone);
    }
    SUBCASE("while the message stays in place") {
        REQUIRE(client.in_place(message) == Sent::part);
        client.far.close();
        CHECK(client.output.send_kept(client.io) == Sent::gone);
    }
}

TEST_CASE("a released output keeps nothing of the message before") {
    const std::string message = text_of(large, 'a');
    Client client;
    SUBCASE("copied") {
        REQUIRE(client.copy(message) == Sent::part);
    }
    SUBCASE("in place") {
        REQUIRE(client.in_place(message) == Sent::part);
    }

    client.output.release();

    CHECK(client.output.empty());
    client.take();
    CHECK(client.copy("next") == Sent::all);
    CHECK(client.take() == "next");
}
