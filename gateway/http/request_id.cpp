#include "http/request_id.hpp"

#include "http/ascii.hpp"

#include <bit>
#include <chrono>
#include <cstddef>
#include <random>

namespace stint::http {

namespace {

constexpr std::size_t max_id_size = 128;
constexpr std::uint64_t max_counter = 0xfff;
constexpr std::uint64_t counter_start_mask = 0x7ff; // leaves half of the range to count in
constexpr std::uint64_t followed_step_back_ms = 1000;

// Unrolled by the number of digits: an id is made for every request.
template <int digits>
void write_hex(char* out, std::uint64_t value) noexcept {
    for (int i = digits - 1; i >= 0; --i, value >>= 4)
        out[i] = "0123456789abcdef"[value & 0xf];
}

} // namespace

bool well_formed_request_id(std::string_view id) noexcept {
    return !id.empty() && id.size() <= max_id_size && ascii::request_id.contains_all(id);
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
    } else if (++counter_ > max_counter) { // a full millisecond borrows from the next
        ++millisecond_;
        counter_ = next() & counter_start_mask;
    }
    const std::uint64_t random = next();
    constexpr std::uint64_t version = 7;
    constexpr std::uint64_t variant = 0x8000; // its two upper bits

    Text text;
    write_hex<8>(text.data(), millisecond_ >> 16);
    write_hex<4>(text.data() + 9, millisecond_ & 0xffff);
    write_hex<4>(text.data() + 14, (version << 12) | counter_);
    write_hex<4>(text.data() + 19, variant | ((random >> 50) & 0x3fff));
    write_hex<12>(text.data() + 24, random & 0xffff'ffff'ffff);
    text[8] = text[13] = text[18] = text[23] = '-';
    return text;
}

} // namespace stint::http
