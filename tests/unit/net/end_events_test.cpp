#include "net/end_events.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

using namespace stint;
using namespace stint::net;

namespace {

// Bare sockets: what is tested is the kernel's word, not the loop's.
struct Connected {
    Connected() {
        std::array<int, 2> both{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0);
        near = Descriptor{both[0]};
        far = Descriptor{both[1]};
    }
    void send() const { REQUIRE(::send(far.get(), "x", 1, MSG_NOSIGNAL) == 1); }
    void finish() const { REQUIRE(::shutdown(far.get(), SHUT_WR) == 0); }

    Descriptor near;
    Descriptor far;
};

} // namespace

TEST_CASE("the end of a connection is told once, also behind bytes that nobody has read") {
    EndEvents events;
    const Connected connected;
    int whom = 0;
    CHECK(events.next() == nullptr);
    connected.send();
    REQUIRE(events.watch(connected.near.get(), &whom, true));
    CHECK(events.next() == nullptr);
    connected.send();
    CHECK(events.next() == nullptr); // bytes are no end

    connected.finish();

    CHECK(events.next() == &whom);
    CHECK(events.next() == nullptr);
    REQUIRE(events.watch(connected.near.get(), &whom, true)); // again: it is as it was
    CHECK(events.next() == &whom);
}

TEST_CASE("an end that came before is told, and a closing side only to who asks for it") {
    EndEvents events;
    const Connected connected;
    int whom = 0;
    connected.finish();
    REQUIRE(events.watch(connected.near.get(), &whom, false));
    CHECK(events.next() == nullptr);
    REQUIRE(events.watch(connected.near.get(), &whom, true));
    CHECK(events.next() == &whom);
}

TEST_CASE("of a socket that was closed nothing is told any more") {
    EndEvents events;
    Connected connected;
    const Connected other;
    int whom = 0;
    int who_else = 0;
    REQUIRE(events.watch(connected.near.get(), &whom, true));
    REQUIRE(events.watch(other.near.get(), &who_else, true));
    connected.finish();
    other.finish();
    REQUIRE(::close(connected.near.release()) == 0);
    CHECK(events.next() == &who_else);
    CHECK(events.next() == nullptr);
}
