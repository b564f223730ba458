// Where an outgoing head is put together: one contiguous run of bytes, kept and reused.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace stint::http {

// Grows to the largest head ever written and stays there: no allocation after warm-up.
class HeadBuffer {
  public:
    void clear() noexcept { size_ = 0; }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

    // Inline, so that a literal's copy is a store or two.
    [[gnu::always_inline]] HeadBuffer& operator<<(std::string_view text) {
        reserve(text.size());
        append(text);
        return *this;
    }

    HeadBuffer& operator<<(std::uint64_t number) {
        reserve(20);
        char* begin = bytes_.data() + size_;
        size_ += static_cast<std::size_t>(std::to_chars(begin, begin + 20, number).ptr - begin);
        return *this;
    }

    // "name: value" and the line's end, as one step: fields are what heads are made of.
    [[gnu::always_inline]] void field(std::string_view name, std::string_view value) {
        reserve(name.size() + value.size() + 4);
        append(name);
        append(": ");
        append(value);
        append("\r\n");
    }

    // Takes back the empty line at the end of a head, so that more fields can follow.
    void reopen() noexcept { size_ -= 2; }

  private:
    [[gnu::always_inline]] void append(std::string_view text) noexcept {
        if (!text.empty()) // an empty view may point nowhere
            std::memcpy(bytes_.data() + size_, text.data(), text.size());
        size_ += text.size();
    }

    void reserve(std::size_t more) {
        if (bytes_.size() - size_ < more) [[unlikely]]
            grow(more);
    }

    [[gnu::noinline]] void grow(std::size_t more) { bytes_.resize((size_ + more) * 2); }

    std::vector<char> bytes_;
    std::size_t size_ = 0;
};

} // namespace stint::http
