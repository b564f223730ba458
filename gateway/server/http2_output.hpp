// Output of one HTTP/2 connection: frames are gathered and sent in few system calls. Bytes that the
// socket does not take are kept.
#pragma once

#include "base/error.hpp"
#include "net/io.hpp"
#include "net/stream.hpp"
#include "server/unsent_bytes.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace stint::server {

// Not thread-safe. Between begin() and finish() bytes in place are referred to; afterwards none
// are: what is left was copied. At most 64 KiB and one frame are kept.
class Http2Output {
  public:
    // Begins to gather. scratch: room for copies, unused by others until finish().
    void begin(net::Stream& io, std::span<char> scratch) noexcept;
    // Adds bytes: copies of them, or the bytes themselves, which stay in place until finish().
    void add_copy(std::string_view bytes);
    void add_in_place(std::string_view bytes);
    // Sends what was gathered, and keeps the rest.
    void finish();

    // Sends kept bytes. Requires: not between begin() and finish().
    void send_kept(net::Stream& io) noexcept;
    // True if bytes are kept: nothing must be added before they are sent.
    [[nodiscard]] bool blocked() const noexcept { return !kept_.empty(); }
    // True if the socket has failed.
    [[nodiscard]] bool failed() const noexcept { return error_.failed(); }
    // Number of bytes that the socket has taken.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

  private:
    void make_room(std::size_t bytes);
    void close_run() noexcept;
    void send();

    net::Stream* io_ = nullptr;
    std::span<char> scratch_;
    std::size_t run_ = 0;  // begin of the copies that gather_ does not have yet
    std::size_t used_ = 0; // end of the copies
    net::Gather gather_;
    UnsentBytes kept_;
    std::uint64_t sent_ = 0;
    ErrorCode error_;
};

} // namespace stint::server
