#include "http/retry_after.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace stint::http {

namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::seconds;

constexpr Duration sane_difference = days{1};

// Reads the parts of a date from the front. Once a part is missing, all further reads fail.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_{text} {}

    bool skip(std::string_view literal) noexcept {
        ok_ = ok_ && rest_.starts_with(literal);
        if (ok_)
            rest_.remove_prefix(literal.size());
        return ok_;
    }
    // Reads one of the names in `names`, each `size` long. Returns its index.
    unsigned name(std::string_view names, std::size_t size) noexcept {
        const std::size_t at = rest_.size() < size ? names.npos : names.find(rest_.substr(0, size));
        ok_ = ok_ && at != names.npos && at % size == 0;
        if (!ok_)
            return 0;
        rest_.remove_prefix(size);
        return static_cast<unsigned>(at / size);
    }
    // Reads exactly `size` digits; the first may be a space where asctime pads.
    unsigned number(std::size_t size, bool padded = false) noexcept {
        ok_ = ok_ && rest_.size() >= size;
        unsigned value = 0;
        for (std::size_t i = 0; ok_ && i < size; ++i) {
            const bool pad = padded && i == 0 && rest_[i] == ' ';
            ok_ = pad || ascii::digit.contains(rest_[i]);
            value = value * 10 + (pad ? 0 : static_cast<unsigned>(rest_[i] - '0'));
        }
        if (ok_)
            rest_.remove_prefix(size);
        return value;
    }
    void skip_long_day() noexcept {
        const std::size_t comma = rest_.find(',');
        ok_ = ok_ && comma >= 6 && comma <= 9; // length of "Monday" to "Wednesday"
        if (ok_)
            rest_.remove_prefix(comma);
    }
    [[nodiscard]] bool done() const noexcept { return ok_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool ok_ = true;
};

struct Parts {
    unsigned year = 0;
    unsigned month = 0; // from 0
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0; // 60 in a leap second
};

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";

void read_time(Reader& reader, Parts& parts) noexcept {
    parts.hour = reader.number(2);
    reader.skip(":");
    parts.minute = reader.number(2);
    reader.skip(":");
    parts.second = reader.number(2);
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
bool read_imf_fixdate(std::string_view text, Parts& parts) noexcept {
    Reader reader{text};
    reader.name(day_names, 3);
    reader.skip(", ");
    parts.day = reader.number(2);
    reader.skip(" ");
    parts.month = reader.name(month_names, 3);
    reader.skip(" ");
    parts.year = reader.number(4);
    reader.skip(" ");
    read_time(reader, parts);
    reader.skip(" GMT");
    return reader.done();
}

// "Sunday, 06-Nov-94 08:49:37 GMT"
bool read_rfc850(std::string_view text, Parts& parts) noexcept {
    Reader reader{text};
    reader.skip_long_day();
    reader.skip(", ");
    parts.day = reader.number(2);
    reader.skip("-");
    parts.month = reader.name(month_names, 3);
    reader.skip("-");
    parts.year = reader.number(2);
    reader.skip(" ");
    read_time(reader, parts);
    reader.skip(" GMT");
    return reader.done();
}

// "Sun Nov  6 08:49:37 1994"
bool read_asctime(std::string_view text, Parts& parts) noexcept {
    Reader reader{text};
    reader.name(day_names, 3);
    reader.skip(" ");
    parts.month = reader.name(month_names, 3);
    reader.skip(" ");
    parts.day = reader.number(2, true);
    reader.skip(" ");
    read_time(reader, parts);
    reader.skip(" ");
    parts.year = reader.number(4);
    return reader.done();
}

std::optional<WallTime> time_of(const Parts& parts) noexcept {
    const std::chrono::year_month_day date{
        std::chrono::year{static_cast<int>(parts.year)}, std::chrono::month{parts.month + 1},
        std::chrono::day{parts.day}};
    if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60)
        return std::nullopt;
    // A WallTime cannot hold times after the year 2262, and times before the epoch count as the
    // epoch.
    if (parts.year < 1970 || parts.year > 2200)
        return WallTime{parts.year < 1970 ? Duration{} : Duration{days{84'000}}};
    return WallTime{std::chrono::sys_days{date}} + std::chrono::hours{parts.hour} +
           std::chrono::minutes{parts.minute} + seconds{parts.second};
}

unsigned full_year(unsigned two_digits, WallTime now) noexcept {
    const std::chrono::year_month_day today{std::chrono::floor<days>(now)};
    const auto this_year = static_cast<unsigned>(static_cast<int>(today.year()));
    const unsigned candidate = this_year / 100 * 100 + two_digits;
    return candidate > this_year + 50 ? candidate - 100 : candidate;
}

std::optional<Duration> parse_seconds(std::string_view text) noexcept {
    if (text.empty() || !ascii::digit.contains_all(text))
        return std::nullopt;
    constexpr std::int64_t most_seconds =
        std::chrono::duration_cast<seconds>(longest_announced).count();
    std::int64_t value = 0;
    for (const char digit : text)
        value = std::min(value * 10 + (digit - '0'), most_seconds);
    return seconds{value};
}

} // namespace

std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) noexcept {
    Parts parts;
    if (read_imf_fixdate(text, parts) || read_asctime(text, parts))
        return time_of(parts);
    if (!read_rfc850(text, parts))
        return std::nullopt;
    parts.year = full_year(parts.year, now);
    return time_of(parts);
}

WallTime http_reference_time(std::span<const Field> fields, WallTime now) noexcept {
    for (const Field& field : fields) {
        if (!ascii::equals_folded(field.name, "date"))
            continue;
        const auto theirs = parse_http_date(field.value, now);
        if (theirs && *theirs - now <= sane_difference && now - *theirs <= sane_difference)
            return *theirs;
    }
    return now;
}

std::optional<Duration> parse_retry_after(std::span<const Field> fields, WallTime now) noexcept {
    std::optional<Duration> longest_asked;
    for (const Field& field : fields) {
        if (!ascii::equals_folded(field.name, "retry-after"))
            continue;
        std::optional<Duration> asked = parse_seconds(field.value);
        if (!asked)
            if (const auto date = parse_http_date(field.value, now))
                asked = std::clamp<Duration>(
                    *date - http_reference_time(fields, now), 0s, longest_announced);
        if (asked && (!longest_asked || *asked > *longest_asked))
            longest_asked = asked;
    }
    return longest_asked;
}

} // namespace stint::http
