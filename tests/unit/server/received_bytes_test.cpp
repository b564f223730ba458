#include "server/received_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace stint;
using server::ReceivedBytes;

namespace {

struct Received {
    Received() { bytes.borrow(pool); }

    void arrive(std::string_view text) {
        std::ranges::copy(text, bytes.room().begin());
        bytes.add(text.size());
    }
    [[nodiscard]] std::string_view text() const {
        return {bytes.bytes().data(), bytes.bytes().size()};
    }

    net::BufferPool pool{4096, 1};
    ReceivedBytes bytes;
};

constexpr std::string_view head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

TEST_CASE("a head is found once its last byte is there, and what follows it stays") {
    Received received;
    for (const char c : head.substr(0, head.size() - 1)) {
        received.arrive({&c, 1});
        CHECK_FALSE(received.bytes.find_head());
    }
    received.arrive("\nGET /next");

    CHECK(received.bytes.find_head());
    CHECK(received.bytes.head_size() == head.size());
    received.bytes.consume(head.size());
    CHECK(received.text() == "GET /next");
    CHECK(received.bytes.head_size() == 0);
    CHECK_FALSE(received.bytes.find_head());
}

TEST_CASE("one empty line before each request line is skipped, and no second one") {
    Received received;
    received.arrive("\r\n");
    CHECK_FALSE(received.bytes.find_head());
    received.arrive(head);
    CHECK(received.bytes.find_head());
    CHECK(received.text().starts_with("GET"));
    received.bytes.consume(head.size());

    received.arrive("\r\n\r\n");
    received.arrive(head);
    CHECK(received.bytes.find_head());
    CHECK(received.text().starts_with("\r\nGET")); // no parser accepts it
}

TEST_CASE("room is made only where it is needed, and moves what has come") {
    Received received;
    received.arrive(head);
    received.arrive("GET /");
    REQUIRE(received.bytes.find_head());
    received.bytes.consume(head.size());
    const std::size_t before = received.bytes.room().size();

    received.bytes.make_room(false);
    CHECK(received.bytes.room().size() == before);
    received.bytes.make_room(true);
    CHECK(received.bytes.room().size() == before + head.size());
    CHECK(received.text() == "GET /");

    received.bytes.consume(5);
    received.bytes.make_room(false); // costs nothing where nothing has come
    CHECK(received.bytes.room().size() == 4096);
}

TEST_CASE("what was read beyond a body goes behind the head in place of the body") {
    Received received;
    received.arrive(head);
    received.arrive("body");
    REQUIRE(received.bytes.find_head());

    received.bytes.drop_behind(head.size());
    received.bytes.append(std::string_view{"GET /next"});
    received.bytes.consume(head.size());

    CHECK(received.text() == "GET /next");
}

TEST_CASE("without a block there is neither room nor a byte") {
    ReceivedBytes bytes;

    CHECK(bytes.empty());
    CHECK(bytes.room().empty());
    CHECK_FALSE(bytes.find_head());
    bytes.append({});
    CHECK(bytes.size() == 0);
}
