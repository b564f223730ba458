#include "observe/json_line.hpp"

#include "observe/access_log.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>

namespace stint::observe {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

constexpr bool is_plain(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

constexpr std::uint64_t repeat(unsigned char byte) noexcept {
    return 0x0101010101010101U * byte;
}

// Returns nonzero if any byte of `word` is zero (Hacker's Delight, section 6-1).
constexpr std::uint64_t zero_byte(std::uint64_t word) noexcept {
    return (word - repeat(0x01)) & ~word & repeat(0x80);
}

constexpr bool all_plain(std::uint64_t word) noexcept {
    const std::uint64_t control = (word - repeat(0x20)) & ~word & repeat(0x80);
    const std::uint64_t special = zero_byte(word ^ repeat('"')) | zero_byte(word ^ repeat('\\')) |
                                  zero_byte(word ^ repeat(0x7f));
    return (control | special | (word & repeat(0x80))) == 0;
}

// Returns the number of bytes at the start of `text` that need no escape in a JSON string.
std::size_t plain_prefix(std::string_view text) noexcept {
    std::size_t size = 0;
    for (std::uint64_t word = 0; size + sizeof word <= text.size(); size += sizeof word) {
        std::memcpy(&word, text.data() + size, sizeof word);
        if (!all_plain(word))
            break;
    }
    while (size < text.size() && is_plain(text[size]))
        ++size;
    return size;
}

struct Sequence {
    std::size_t size; // bytes, at least 1
    bool valid;
};

// Returns the UTF-8 sequence at the start of `text`, or the maximal part of an ill-formed sequence
// (Unicode 15, table 3-7).
Sequence utf8_sequence(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t size = lead < 0xc2   ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
    if (size == 0)
        return {1, false};
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (std::size_t at = 1; at < size; ++at) {
        const unsigned byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
        if (byte < low || byte > high)
            return {at, false};
        low = 0x80;
        high = 0xbf;
    }
    return {size, true};
}

// Returns the number of a character of two or three bytes in well-formed UTF-8.
unsigned number_of(std::string_view sequence) noexcept {
    unsigned number =
        static_cast<unsigned char>(sequence.front()) & (sequence.size() == 2 ? 0x1fU : 0x0fU);
    for (const char c : sequence.substr(1))
        number = number << 6U | (static_cast<unsigned char>(c) & 0x3fU);
    return number;
}

// True for a character that makes a terminal or an editor show a line otherwise than it is: control
// characters (C1), separators of lines, and marks of the writing direction.
bool is_deceptive(unsigned number) noexcept {
    return (number >= 0x80 && number < 0xa0) || number == 0x61c || number == 0x200e ||
           number == 0x200f || (number >= 0x2028 && number <= 0x202e) ||
           (number >= 0x2066 && number <= 0x2069);
}

void append_number_escape(std::string& out, unsigned number) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (unsigned shift = 16; shift > 0;)
        out += digits[(number >> (shift -= 4U)) & 0x0fU];
}

void append_escape(std::string& out, char c) {
    switch (c) {
    case '"':
        out += "\\\"";
        return;
    case '\\':
        out += "\\\\";
        return;
    case '\n':
        out += "\\n";
        return;
    case '\r':
        out += "\\r";
        return;
    case '\t':
        out += "\\t";
        return;
    default:
        break;
    }
    append_number_escape(out, static_cast<unsigned char>(c));
}

void append_integer(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    out.append(digits.begin(), end);
}

// Writes a number with `width` digits, with leading zeros, to `out`. Returns the end of the digits.
char* put_digits(char* out, unsigned value, int width) noexcept {
    for (int at = width - 1; at >= 0; --at, value /= 10)
        out[at] = static_cast<char>('0' + value % 10);
    return out + width;
}

// A second such as "2024-05-01T08:09:10.", without the milliseconds that follow.
using SecondText = std::array<char, 20>;

SecondText second_text(std::chrono::sys_seconds second) noexcept {
    const auto day = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{second - day};
    SecondText text{};
    char* out = put_digits(text.data(), static_cast<unsigned>(int{date.year()}), 4);
    *out++ = '-';
    out = put_digits(out, unsigned{date.month()}, 2);
    *out++ = '-';
    out = put_digits(out, unsigned{date.day()}, 2);
    *out++ = 'T';
    out = put_digits(out, static_cast<unsigned>(clock.hours().count()), 2);
    *out++ = ':';
    out = put_digits(out, static_cast<unsigned>(clock.minutes().count()), 2);
    *out++ = ':';
    out = put_digits(out, static_cast<unsigned>(clock.seconds().count()), 2);
    *out = '.';
    return text;
}

// The append functions below take the key with its JSON punctuation (`,"key":`), so that one append
// writes all of it.
void append_text(std::string& out, std::string_view key, std::string_view text) {
    if (text.empty())
        return;
    out += key;
    append_json_string(out, text);
}

void append_count(std::string& out, std::string_view key, std::uint64_t value) {
    out += key;
    append_integer(out, value);
}

// Appends a duration in milliseconds with three decimals.
void append_ms(std::string& out, std::string_view key, Duration duration) {
    using std::chrono::microseconds;
    const auto whole = std::chrono::duration_cast<microseconds>(duration).count();
    const std::uint64_t us = whole < 0 ? 0 : static_cast<std::uint64_t>(whole);
    std::array<char, 4> fraction{'.'};
    put_digits(fraction.data() + 1, static_cast<unsigned>(us % 1000), 3);
    append_count(out, key, us / 1000);
    out.append(fraction.data(), fraction.size());
}

void append_fields(std::string& out, std::span<const LoggedField> fields) {
    std::string_view opening = ",\"fields\":{";
    for (const LoggedField& field : fields) {
        if (field.value.empty())
            continue;
        out += opening;
        append_json_string(out, field.name);
        out += ':';
        append_json_string(out, field.value);
        opening = ",";
    }
    if (opening == ",")
        out += '}';
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t plain = plain_prefix(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        if (static_cast<unsigned char>(text.front()) < 0x80) {
            append_escape(out, text.front());
            text.remove_prefix(1);
            continue;
        }
        const Sequence sequence = utf8_sequence(text);
        const std::string_view character = text.substr(0, sequence.size);
        const bool may_deceive = sequence.valid && (sequence.size == 2 || sequence.size == 3);
        if (const unsigned number = may_deceive ? number_of(character) : 0; is_deceptive(number))
            append_number_escape(out, number);
        else
            out += sequence.valid ? character : replacement;
        text.remove_prefix(sequence.size);
    }
    out += '"';
}

void append_rfc3339(std::string& out, WallTime time) {
    // The date is computed once per second and thread, because a worker writes many lines in one
    // second.
    thread_local std::chrono::sys_seconds cached_second{};
    thread_local SecondText cached = second_text(cached_second);
    const auto second = std::chrono::floor<std::chrono::seconds>(time);
    if (second != cached_second) {
        cached = second_text(second);
        cached_second = second;
    }
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(time - second).count();
    std::array<char, 4> fraction{'0', '0', '0', 'Z'};
    put_digits(fraction.data(), static_cast<unsigned>(ms), 3);
    out.append(cached.data(), cached.size()).append(fraction.data(), fraction.size());
}

std::string_view to_text(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::forwarded:
        return "forwarded";
    case Outcome::refused:
        return "refused";
    case Outcome::rejected:
        return "rejected";
    case Outcome::no_route:
        return "no_route";
    case Outcome::upstream_failed:
        return "upstream_failed";
    case Outcome::cooling_down:
        return "cooling_down";
    case Outcome::client_gone:
        return "client_gone";
    case Outcome::responded:
        return "responded";
    }
    return "unknown";
}

void format(std::string& out, const AccessRecord& record) {
    out += "{\"time\":\"";
    append_rfc3339(out, record.time);
    out += '"';
    append_text(out, ",\"request_id\":", record.request_id);
    append_text(out, ",\"client\":", record.client);
    append_text(out, ",\"protocol\":", record.protocol);
    append_text(out, ",\"tls\":", record.tls);
    append_text(out, ",\"host\":", record.host);
    append_text(out, ",\"route\":", record.route);
    append_text(out, ",\"method\":", record.method);
    append_text(out, ",\"path\":", record.path);
    if (record.status > 0)
        append_count(out, ",\"status\":", static_cast<std::uint64_t>(record.status));
    append_text(out, ",\"decision\":", to_text(record.outcome));
    append_text(out, ",\"limit\":", record.limit);
    append_text(out, ",\"key\":", record.key);
    append_text(out, ",\"would_refuse\":", record.would_refuse);
    append_text(out, ",\"would_wait\":", record.would_wait);
    append_text(out, ",\"cost_overrun\":", record.cost_overrun);
    append_count(out, ",\"bytes_in\":", record.bytes_in);
    append_count(out, ",\"bytes_out\":", record.bytes_out);
    append_ms(out, ",\"duration_ms\":", record.duration);
    if (record.waited > Duration::zero())
        append_ms(out, ",\"waited_ms\":", record.waited);
    if (record.attempts > 1)
        append_count(out, ",\"attempts\":", record.attempts);
    append_text(out, ",\"upstream\":", record.upstream);
    append_text(out, ",\"upstream_error\":", record.upstream_error);
    if (record.upstream_time > Duration::zero())
        append_ms(out, ",\"upstream_ms\":", record.upstream_time);
    append_fields(out, record.fields);
    out += "}\n";
}

} // namespace stint::observe
