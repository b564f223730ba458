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

// One pipe, of two descriptors. Move-only, not thread-safe; never waits. Its sockets must be
// non-blocking and without TLS, and SIGPIPE must be ignored: splice(2) has no MSG_NOSIGNAL.
class SplicePipe {
  public:
    // Most bytes in the pipe, and so the most that the receiver may lag behind the sender.
    static constexpr std::size_t capacity = 1024 * 1024;

    // Opens a pipe. The error is the system's: too many descriptors, or no memory for a pipe of a
    // useful size.
    [[nodiscard]] static Result<SplicePipe> open() noexcept;

    // Bytes in the pipe.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    // Moves the bytes that `from` has received by now into the pipe, at most `at_most` bytes (> 0).
    // Call it on an empty pipe: otherwise would_block may also mean that the pipe is full. Further
    // errors: eof; operation_not_supported if the system does not splice such sockets, and then
    // nothing has moved.
    [[nodiscard]] Received fill(Socket& from, std::size_t at_most) noexcept;

    // Sends as many of the pipe's bytes as `to` takes now. Requires: bytes() > 0. Errors:
    // would_block; operation_not_supported as for fill(); the socket's own errors.
    [[nodiscard]] Received drain(Socket& to) noexcept;

    // Takes bytes out of the pipe by copying them, for a socket that drain() does not support.
    [[nodiscard]] Received copy_out(std::span<char> into) noexcept;

  private:
    SplicePipe(int out, int in) noexcept : out_{out}, in_{in} {}

    Descriptor out_; // the end that bytes are read from
    Descriptor in_;
    std::size_t bytes_ = 0;
};

// Unused pipes, kept so that a response seldom has to make one. One per worker.
class SplicePipes {
  public:
    SplicePipes() { kept_.reserve(most_kept); }

    // Returns a kept pipe, or a new one. The error: as of open(), or operation_not_supported after
    // give_up().
    [[nodiscard]] Result<SplicePipe> take() noexcept;

    // Keeps the pipe for the next response, if it is empty and few are kept. Otherwise closes the
    // pipe, with the bytes in it.
    void keep(SplicePipe pipe) noexcept;

    // Notes that the system does not splice sockets: take() fails from now on.
    void give_up() noexcept { supported_ = false; }

    // Closes the pipes that were not needed since the last call. Called about every second.
    void trim() noexcept;

    // Closes the kept pipes, because their descriptors are needed. Returns the number closed.
    std::size_t close_kept() noexcept;

    [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

    static constexpr std::size_t most_kept = 8;

  private:
    std::vector<SplicePipe> kept_; // the last one used is at the back
    std::size_t fewest_kept_ = 0;  // smallest size of kept_ since the last trim()
    bool supported_ = true;
};

} // namespace stint::net
