// Gather, write_now and probe: what is done on a socket without waiting.
#include "net/io.hpp"
#include "socket_pair.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace {

using namespace stint::net;
using stint::test::SocketPair;

// Not inlined: GCC 12 would warn of the pieces that it sees unused.
[[gnu::noinline]] Gather gather_of(std::initializer_list<std::string_view> pieces) {
    Gather gather;
    for (const std::string_view piece : pieces)
        gather.add(piece);
    return gather;
}

std::string text_of(const Gather& gather) {
    std::string text;
    for (const iovec& piece : gather.pieces())
        text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    return text;
}

} // namespace

TEST_CASE("a gather's pieces are consumed across their borders at every byte") {
    constexpr std::string_view whole = "onethreefive-six";
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        CAPTURE(cut);
        Gather gather = gather_of({"one", "three", "five-", "six"});
        REQUIRE(gather.bytes() == whole.size());

        gather.consume(cut);

        CHECK(text_of(gather) == whole.substr(cut));
        CHECK(gather.bytes() == whole.size() - cut);
        CHECK(gather.empty() == (cut == whole.size()));
        gather.consume(gather.bytes());
        CHECK(gather.empty());
    }
}

TEST_CASE("empty pieces take no place in a gather") {
    Gather gather = gather_of({"", "", "", "", "", "", "", "", ""});
    CHECK(gather.empty());

    gather.add("x");

    CHECK(gather.pieces().size() == 1);
}

TEST_CASE("a gather takes as many pieces as promised") {
    static_assert(max_pieces == 6);

    const Gather gather = gather_of({"a", "b", "c", "d", "e", "f"});

    CHECK(text_of(gather) == "abcdef");
}

TEST_CASE("write_now sends all pieces in order") {
    SocketPair pair;
    Gather gather = gather_of({"head ", "and ", "body"});

    CHECK_FALSE(write_now(pair.near, gather));

    CHECK(gather.empty());
    CHECK(pair.take() == "head and body");
}

TEST_CASE("write_now leaves what the socket does not take, to the byte") {
    SocketPair pair;
    const std::string large(4 << 20, 'x');
    const std::string end = "the end";
    Gather gather = gather_of({large, end});

    CHECK_FALSE(write_now(pair.near, gather));

    REQUIRE_FALSE(gather.empty());
    std::string seen;
    while (!gather.empty()) {
        const std::string part = pair.take();
        REQUIRE_FALSE(part.empty());
        seen += part;
        REQUIRE_FALSE(write_now(pair.near, gather));
    }
    for (std::string part = pair.take(); !part.empty(); part = pair.take())
        seen += part;
    CHECK(seen == large + end);
}

TEST_CASE("write_now returns the error of a peer that is gone, without a signal") {
    SocketPair pair;
    pair.far.close();
    Gather gather = gather_of({"x"});

    CHECK(write_now(pair.near, gather) == boost::system::errc::broken_pipe);
    CHECK(gather.bytes() == 1);
}

TEST_CASE("probe tells a silent peer from one that speaks and one that has closed") {
    SocketPair pair;
    CHECK(probe(pair.near) == SocketState::silent);

    SUBCASE("speaks") {
        REQUIRE(::send(pair.far.native_handle(), "x", 1, MSG_NOSIGNAL) == 1);
        CHECK(probe(pair.near) == SocketState::bytes_waiting);
        CHECK(probe(pair.near) == SocketState::bytes_waiting); // takes nothing away
    }
    SUBCASE("closed") {
        pair.far.close();
        CHECK(probe(pair.near) == SocketState::closed);
    }
    SUBCASE("closed its sending side") {
        pair.far.shutdown(Socket::shutdown_send);
        CHECK(probe(pair.near) == SocketState::closed);
    }
    SUBCASE("our own end is closed") {
        close(pair.near);
        CHECK(probe(pair.near) == SocketState::closed);
    }
}
