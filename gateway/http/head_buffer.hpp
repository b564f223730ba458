// The buffer for an outgoing head: one contiguous run of bytes, kept and reused.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace stint::http {

// Grows to the largest head ever written and keeps that memory: no allocation after warm-up.
class HeadBuffer {
  public:
    void clear() noexcept { end_ = bytes_.get(); }
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(end_ - bytes_.get());
    }
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size()}; }

    // Appends pieces of text, with one capacity check for all. Inline, so that a literal is copied
    // by a store or two.
    template <class... Text>
    [[gnu::always_inline]] void add(const Text&... text) {
        add_views(std::string_view{text}...);
    }

    [[gnu::always_inline]] HeadBuffer& operator<<(std::string_view text) {
        add(text);
        return *this;
    }

    HeadBuffer& operator<<(std::uint64_t number) {
        char* const begin = room_for(most_digits);
        end_ = std::to_chars(begin, begin + most_digits, number).ptr;
        return *this;
    }

    // Appends one header field, "name: value" and CRLF.
    [[gnu::always_inline]] void field(std::string_view name, std::string_view value) {
        add(name, ": ", value, "\r\n");
    }

    // Truncates to the first `size` bytes.
    void cut(std::size_t size) noexcept { end_ = bytes_.get() + size; }

  private:
    static constexpr std::size_t most_digits = 20;

    template <class... View>
    [[gnu::always_inline]] void add_views(View... text) {
        char* to = room_for((text.size() + ...));
        ((to = put(to, text)), ...);
        end_ = to;
    }

    [[gnu::always_inline]] static char* put(char* to, std::string_view text) noexcept {
        if (!text.empty()) // an empty view may point nowhere
            std::memcpy(to, text.data(), text.size());
        return to + text.size();
    }

    [[gnu::always_inline]] char* room_for(std::size_t more) {
        if (static_cast<std::size_t>(limit_ - end_) < more) [[unlikely]]
            grow(more);
        return end_;
    }

    [[gnu::noinline]] void grow(std::size_t more) {
        const std::size_t used = size();
        const std::size_t room = (used + more) * 2;
        auto bytes = std::make_unique_for_overwrite<char[]>(room);
        std::copy_n(bytes_.get(), used, bytes.get());
        bytes_ = std::move(bytes);
        end_ = bytes_.get() + used;
        limit_ = bytes_.get() + room;
    }

    std::unique_ptr<char[]> bytes_;
    char* end_ = nullptr; // end of the text written
    char* limit_ = nullptr;
};

} // namespace stint::http
