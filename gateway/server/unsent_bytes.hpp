// Copies of bytes that a socket has not taken yet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace stint::server {

class UnsentBytes {
  public:
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    // The bytes that are left, valid until the next change.
    [[nodiscard]] std::string_view view() const noexcept {
        return std::string_view{bytes_}.substr(sent_);
    }
    void assign(std::string bytes) noexcept {
        bytes_ = std::move(bytes);
        sent_ = 0;
    }
    // Notes that all but the last `left` bytes were sent.
    void leave(std::size_t left) noexcept {
        sent_ = bytes_.size() - left;
        if (left == 0)
            clear();
    }
    void clear() noexcept {
        bytes_.clear();
        sent_ = 0;
    }
    // Frees memory of more than `size` bytes. Requires: empty().
    void shrink(std::size_t size) noexcept {
        if (bytes_.capacity() > size) [[unlikely]]
            std::string{}.swap(bytes_); // an assignment of {} keeps the memory
    }

  private:
    std::string bytes_;
    std::size_t sent_ = 0;
};

} // namespace stint::server
