// A pipe in the kernel that carries bytes from one plain socket to another without a copy.
#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "net/io.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace stint::net {

// Two descriptors. Move-only, not thread-safe; never waits. Its sockets must be non-blocking and
// without TLS, and SIGPIPE must be ignored: splice(2) has no MSG_NOSIGNAL.
class SplicePipe {
  public:
    // So much may be in it: as much as one connection's peer may be behind.
    static constexpr std::size_t capacity = 1024 * 1024;

    // The error is the system's: too many descriptors, or no room for a pipe that is worth it.
    [[nodiscard]] static Result<SplicePipe> open() noexcept;

    // What is in it.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    // Takes what `from` has received by now, at most so much (> 0). Call it on an empty pipe: of
    // one that is not, would_block may also mean that the pipe is full. Further errors: eof;
    // operation_not_supported where the system does not splice such sockets, then nothing has
    // moved.
    [[nodiscard]] Received fill(Socket& from, std::size_t at_most) noexcept;

    // Sends what `to` takes of it now (call it with bytes() > 0). Errors: would_block,
    // operation_not_supported as above, what the socket says.
    [[nodiscard]] Received drain(Socket& to) noexcept;

    // Takes bytes out by copying them, for a socket that drain() does not support.
    [[nodiscard]] Received copy_out(std::span<char> into) noexcept;

  private:
    SplicePipe(int out, int in) noexcept : out_{out}, in_{in} {}

    Descriptor out_; // where bytes leave it
    Descriptor in_;
    std::size_t bytes_ = 0;
};

// Pipes that nobody uses at the moment, so that an answer seldom has to make one. One per worker.
class SplicePipes {
  public:
    SplicePipes() { kept_.reserve(most_kept); }

    // The error: as of open(), or operation_not_supported after give_up().
    [[nodiscard]] Result<SplicePipe> take() noexcept;

    // Keeps it for the next one, if it is empty and few are kept. One that is not given back closes
    // with the bytes in it.
    void keep(SplicePipe pipe) noexcept;

    // The system does not splice sockets: nobody is to try again.
    void give_up() noexcept { supported_ = false; }

    // Closes those that nobody needed since the last call; to be called every second or so.
    void trim() noexcept;

    // Closes what is kept: its descriptors are needed. How many pipes.
    std::size_t close_kept() noexcept;

    [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

    static constexpr std::size_t most_kept = 8;

  private:
    std::vector<SplicePipe> kept_; // the one used last at the back
    std::size_t fewest_kept_ = 0;  // since the last trim()
    bool supported_ = true;
};

} // namespace stint::net
