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

// Writes the lower half of `value` as eight hexadecimal digits, all at once since an id is made for
// every request: each half byte gets a byte of its own, the highest in the lowest place. From 10
// on, the distance from '9' to 'a' is added.
void write_eight_digits(char* out, std::uint64_t value) noexcept {
    std::uint64_t digits = value & 0xffff'ffff;
    digits = (digits | (digits << 16)) & 0x0000'ffff'0000'ffff;
    digits = (digits | (digits << 8)) & 0x00ff'00ff'00ff'00ff;
    digits = (digits | (digits << 4)) & 0x0f0f'0f0f'0f0f'0f0f;
    const std::uint64_t letters = ((digits + 0x0606'0606'0606'0606) >> 4) & 0x0101'0101'0101'0101;
    digits += 0x3030'3030'3030'3030 + letters * ('a' - '9' - 1);
    static_assert(std::endian::native == std::endian::little);
    digits = __builtin_bswap64(digits);
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
    std::array<char, 8> split;
    const auto write_split = [&](std::size_t first, std::size_t second, std::uint64_t value) {
        write_eight_digits(split.data(), value);
        std::copy_n(split.data(), 4, text.data() + first);
        std::copy_n(split.data() + 4, 4, text.data() + second);
    };
    write_eight_digits(text.data(), named >> 32);
    write_split(9, 14, named);
    write_split(19, 24, random >> 32);
    write_eight_digits(text.data() + 28, random);
    text[8] = text[13] = text[18] = text[23] = '-';
    return text;
}

} // namespace stint::http
