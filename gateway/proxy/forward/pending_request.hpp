// The first bytes of a request while no socket has taken all of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace stint::proxy {

// The request's head and what has come of its body, in the order in which they are sent. While it
// holds bytes, it holds all that has been read of the request: the request can be sent again from
// its head.
class PendingRequest {
  public:
    // bytes: head and body; the first head_size bytes are the head. taken: how many of them the
    // socket of this attempt has taken.
    void assign(std::string bytes, std::size_t head_size, std::size_t taken) noexcept {
        bytes_ = std::move(bytes);
        head_size_ = head_size;
        taken_ = taken;
    }
    void clear() noexcept {
        if (bytes_.empty()) [[likely]]
            return;
        bytes_ = {};
        head_size_ = taken_ = 0;
    }
    void take(std::size_t size) noexcept { taken_ += size; }

    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    // True if the socket of this attempt has taken any byte.
    [[nodiscard]] bool begun() const noexcept { return taken_ > 0; }
    // Views are valid until the next change.
    [[nodiscard]] std::string_view rest() const noexcept {
        return std::string_view{bytes_}.substr(taken_);
    }
    [[nodiscard]] std::string_view body() const noexcept {
        return std::string_view{bytes_}.substr(head_size_);
    }

  private:
    std::string bytes_;
    std::size_t head_size_ = 0;
    std::size_t taken_ = 0;
};

} // namespace stint::proxy
