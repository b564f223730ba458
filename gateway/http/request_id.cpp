#include "http/request_id.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <random>

namespace stint::http {

namespace {

constexpr std::size_t max_id_size = 128;
constexpr std::uint64_t max_counter = 0xfff;
constexpr std::uint64_t counter_start_mask = 0x7ff; // leaves half of the range to count in
constexpr std::uint64_t followed_step_back_ms = 1000;

// Writes the hexadecimal digits of a value, all sixteen at once: an id is made for every request.
void write_digits(char* out, std::uint64_t value) noexcept {
    using Halves [[gnu::vector_size(16)]] = std::uint64_t;
    using Digits [[gnu::vector_size(16)]] = signed char;
    constexpr std::uint64_t low_nibbles = 0x0f0f'0f0f'0f0f'0f0f;
    static_assert(std::endian::native == std::endian::little);
    const std::uint64_t bytes = __builtin_bswap64(value); // the highest byte is the first
    const Digits first = reinterpret_cast<Digits>(Halves{(bytes >> 4) & low_nibbles, 0});
    const Digits second = reinterpret_cast<Digits>(Halves{bytes & low_nibbles, 0});
    Digits digits = __builtin_shufflevector(
        first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    digits += '0' + ((digits > 9) & ('a' - '9' - 1));
    std::memcpy(out, &digits, sizeof digits);
}

} // namespace

bool well_formed_request_id(std::string_view id) noexcept {
    return !id.empty() && id.size() <= max_id_size && ascii::request_id.contains_all(id);
}

std::string_view shown_request_id(std::span<const Field> fields) noexcept {
    for (const Field& field : fields)
        if (field.id == FieldId::x_request_id && well_formed_request_id(field.value))
            return field.value;
    return {};
}

RequestIdSource::RequestIdSource() : state_{} {
    std::random_device system;
    for (std::uint64_t& word : state_)
        word = (std::uint64_t{system()} << 32) | system();
    state_[0] |= 1; // the generator's one forbidden state is all zero
}

// xoroshiro128+ (Blackman and Vigna 2018).
std::uint64_t RequestIdSource::next() noexcept {
    const std::uint64_t sum = state_[0] + state_[1];
    const std::uint64_t mixed = state_[0] ^ state_[1];
    state_[0] = std::rotl(state_[0], 24) ^ mixed ^ (mixed << 16);
    state_[1] = std::rotl(mixed, 37);
    return sum;
}

RequestIdSource::Text RequestIdSource::make(WallTime now) noexcept {
    const auto ms = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count());
    if (ms > millisecond_ || millisecond_ - ms > followed_step_back_ms) {
        millisecond_ = ms;
        counter_ = next() & counter_start_mask;
    } else if (++counter_ > max_counter) { // the counter is used up: go on in the next millisecond
        ++millisecond_;
        counter_ = next() & counter_start_mask;
    }
    // The layout of RFC 9562 section 5.7: time, version, counter; then variant and random bits.
    const std::uint64_t named = (millisecond_ << 16) | 0x7000 | counter_;
    const std::uint64_t random = (std::uint64_t{1} << 63) | (next() >> 2);
    Text text;
    std::array<char, 32> digits;
    write_digits(digits.data(), named);
    write_digits(digits.data() + 16, random);
    std::copy_n(digits.data(), 8, text.data());
    std::copy_n(digits.data() + 8, 4, text.data() + 9);
    std::copy_n(digits.data() + 12, 4, text.data() + 14);
    std::copy_n(digits.data() + 16, 4, text.data() + 19);
    std::copy_n(digits.data() + 20, 12, text.data() + 24);
    text[8] = text[13] = text[18] = text[23] = '-';
    return text;
}

} // namespace stint::http
