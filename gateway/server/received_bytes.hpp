// Bytes that were received on an HTTP/1 connection and not yet consumed: a request's head, and what
// came behind it.
#pragma once

#include "net/buffer_pool.hpp"

#include <cstddef>
#include <span>

namespace stint::server {

// Holds the bytes in one borrowed block. Has no block while the connection is parked. Does no I/O.
class ReceivedBytes {
  public:
    [[nodiscard]] bool has_block() const noexcept { return static_cast<bool>(block_); }
    // Borrows a block. Requires: there is none. Throws std::bad_alloc.
    void borrow(net::BufferPool& pool) { block_ = pool.borrow(); }
    // Forgets the bytes and gives the block back.
    void release() noexcept {
        block_.release();
        clear();
    }
    // Forgets the bytes.
    void clear() noexcept { begin_ = end_ = scanned_ = 0; }

    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    // The bytes that are not consumed. They stay in place until make_room().
    [[nodiscard]] std::span<char> bytes() const noexcept {
        return {block_.data() + begin_, end_ - begin_};
    }
    [[nodiscard]] std::size_t block_size() const noexcept { return block_.size(); }

    // The block's free part behind the bytes.
    [[nodiscard]] std::span<char> room() const noexcept {
        return {block_.data() + end_, block_.size() - end_};
    }
    // Notes that so many bytes were written into room().
    void add(std::size_t size) noexcept { end_ += size; }
    // Appends bytes, at most as many as there is room for.
    void append(std::span<const char> bytes) noexcept;
    // Makes room() larger: at no cost if there are no bytes, else, if `needed`, by moving the bytes
    // to the block's front.
    void make_room(bool needed) noexcept;
    // True if less than half of the block is left for a request and what comes behind it.
    [[nodiscard]] bool is_far_in() const noexcept { return begin_ > block_.size() / 2; }

    // Searches for the end of the head that the bytes begin with, and sets head_size(): 0 if it is
    // incomplete. At most one empty line before a request line is skipped (RFC 9112 section 2.2).
    // Returns true if the head is complete.
    bool find_head() noexcept;
    [[nodiscard]] std::size_t head_size() const noexcept { return head_size_; }
    // Forgets all but the first `size` bytes.
    void drop_behind(std::size_t size) noexcept { end_ = begin_ + size; }
    // Consumes the first bytes: the next request begins behind them.
    void consume(std::size_t size) noexcept;

  private:
    void skip_empty_line() noexcept;

    net::Block block_; // [begin_, end_) of it was received and not consumed
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0;   // offset up to which a head's end was searched for
    std::size_t head_size_ = 0; // size of the complete head at begin_; 0 = none yet
    bool empty_line_passed_ = false;
};

} // namespace stint::server
