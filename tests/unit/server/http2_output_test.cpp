// Http2Output on one end of a socket pair whose other end does not read.
#include "net/io.hpp"
#include "server/http2_output.hpp"
#include "socket_pair.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <utility>

using namespace stint;

namespace {

constexpr std::size_t scratch_size = 68 * 1024; // as a connection's
constexpr std::size_t frame_size = 16 * 1024;
constexpr std::size_t frame_head = 9;

struct Unread {
    test::SocketPair pair;
    net::Stream io{std::move(pair.near)};
    std::string scratch = std::string(scratch_size, '\0');
    server::Http2Output output;
    std::uint64_t added = 0;

    void add_head(std::size_t size) {
        output.add_copy(std::string(size, 'h'));
        added += size;
    }
    void add_data(const std::string& payload) {
        output.add_copy(std::string(frame_head, 'd'));
        output.add_in_place({}); // no copies of the stream's
        output.add_in_place(payload);
        added += frame_head + payload.size();
    }
    // Adds frames as a connection does, while the socket takes nothing. heads: bytes of a frame
    // that is copied before each DATA frame. Returns the number of bytes that are kept.
    std::uint64_t fill(std::size_t heads) {
        const std::string payload(frame_size, 'p');
        while (::send(io.socket().native_handle(), "x", 1, MSG_NOSIGNAL) == 1) {
        }
        output.begin(io, scratch);
        while (!output.blocked()) {
            add_head(heads);
            if (!output.blocked())
                add_data(payload);
        }
        output.finish();
        REQUIRE(output.sent() == 0);
        return added;
    }
};

} // namespace

TEST_CASE("a connection keeps at most 64 KiB and one frame that its socket does not take") {
    for (const std::size_t heads : {1UL, 100UL, 5'000UL, 10'000UL, frame_size}) {
        CAPTURE(heads);
        Unread unread;

        CHECK(unread.fill(heads) <= 64 * 1024 + frame_head + frame_size);
    }
}
