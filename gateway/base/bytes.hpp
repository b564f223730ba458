// Converts numbers and texts to bytes, and back, for a file that only this machine reads again.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stint {

static_assert(std::endian::native == std::endian::little, "state files are little-endian");

template <class T>
void put(std::string& out, T number) {
    static_assert(std::is_integral_v<T>);
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof bytes);
}

// Appends the text, preceded by its length.
inline void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}

// Reads numbers and texts that put() and put_text() wrote. Past the end every number is 0, every
// text is empty, and good() is false.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : rest_{bytes} {}

    template <class T>
    T take() {
        static_assert(std::is_integral_v<T>);
        T number{};
        const std::string_view bytes = take_bytes(sizeof number);
        if (!bytes.empty())
            std::memcpy(&number, bytes.data(), sizeof number);
        return number;
    }
    std::string_view take_text() { return take_bytes(take<std::uint32_t>()); }

    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

  private:
    std::string_view take_bytes(std::size_t count) {
        good_ = good_ && count <= rest_.size();
        if (!good_)
            return {};
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

    std::string_view rest_;
    bool good_ = true;
};

} // namespace stint
