#include "http/local_reply.hpp"

#include <chrono>

namespace stint::http {

namespace {

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";

char* put(char* out, std::string_view text) noexcept {
    return out + text.copy(out, text.size());
}

char* put_two(char* out, unsigned value) noexcept {
    *out++ = static_cast<char>('0' + value / 10 % 10);
    *out++ = static_cast<char>('0' + value % 10);
    return out;
}

} // namespace

std::string_view DateClock::format(WallTime now) noexcept {
    constexpr std::size_t size = std::string_view{"Sun, 06 Nov 1994 08:49:37 GMT"}.size();
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    const std::int64_t count = second.time_since_epoch().count();
    if (count == second_)
        return {text_, size};
    second_ = count;

    const auto day = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{second - day};
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    char* out = text_;
    out = put(out, day_names.substr(std::chrono::weekday{day}.c_encoding() * 3, 3));
    out = put_two(put(out, ", "), static_cast<unsigned>(date.day()));
    out = put(out, " ");
    out = put(out, month_names.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
    out = put_two(put_two(put(out, " "), year / 100), year % 100);
    out = put_two(put(out, " "), static_cast<unsigned>(time.hours().count()));
    out = put_two(put(out, ":"), static_cast<unsigned>(time.minutes().count()));
    out = put_two(put(out, ":"), static_cast<unsigned>(time.seconds().count()));
    put(out, " GMT");
    return {text_, size};
}

} // namespace stint::http
