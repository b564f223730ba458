#include "http/ascii.hpp"
#include "simulate/line_text.hpp"
#include "simulate/log_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace stint::simulate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr const char* not_combined = "not nginx's common or combined format";
constexpr const char* cut_off = "cut off: nginx's common or combined format has more";

const FieldNames combined_fields{"referer", "user-agent"};

// Removes a quoted text from the front and writes it without its escapes, \xHH and a backslash
// before any other byte. Returns false if there is none, or if it has no end.
bool take_quoted(std::string_view& text, std::string& plain) {
    plain.clear();
    if (!take(text, '"'))
        return false;
    for (;;) {
        const std::size_t size = text.find_first_of("\"\\");
        if (size == std::string_view::npos)
            return false;
        plain += text.substr(0, size);
        const bool ends = text[size] == '"';
        text.remove_prefix(size + 1);
        if (ends)
            return true;
        if (text.empty())
            return false;
        const int high = text.size() > 2 && text[0] == 'x' ? http::ascii::hex_value(text[1]) : -1;
        const int low = high >= 0 ? http::ascii::hex_value(text[2]) : -1;
        plain += low >= 0 ? static_cast<char>(high * 16 + low) : text[0];
        text.remove_prefix(low >= 0 ? 3 : 1);
    }
}

// Removes a date with an offset, "25/Nov/2026:10:00:01 +0100] ".
std::optional<WallTime> take_local_time(std::string_view& text) {
    std::string_view rest = text;
    const auto local = take_log_date(rest);
    if (!local || !take(rest, ' '))
        return std::nullopt;
    const bool east = take(rest, '+');
    if (!east && !take(rest, '-'))
        return std::nullopt;
    const int hour = take_number(rest, 2);
    const int minute = take_number(rest, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || !take(rest, ']') || !take(rest, ' '))
        return std::nullopt;
    text = rest;
    const Duration offset = hours{hour} + minutes{minute};
    return *local - (east ? offset : -offset);
}

// Removes all text to the end of the time, and returns the time; nullopt if there is none. The name
// of a user before the time may have spaces and brackets, too.
std::optional<WallTime> take_head(std::string_view& text) {
    for (std::size_t at = text.find(" ["); at != std::string_view::npos;
         at = text.find(" [", at + 1)) {
        std::string_view rest = text.substr(at + 2);
        if (const auto time = take_local_time(rest)) {
            text = rest;
            return time;
        }
    }
    return std::nullopt;
}

// Reads a $request_time such as "0.012", also behind "rt=" or "request_time=". Returns nullopt for
// any other word, and for more than six digits before the point, as $msec has.
std::optional<Duration> request_time_of(std::string_view word) {
    for (const std::string_view name : {"rt=", "request_time="})
        if (word.starts_with(name))
            word.remove_prefix(name.size());
    const std::size_t point = word.find('.');
    if (point == std::string_view::npos || point == 0 || point > 6 || word.size() != point + 4)
        return std::nullopt;
    const int whole = take_number(word, point);
    const bool right = take(word, '.');
    const int part = take_number(word, 3);
    if (whole < 0 || !right || part < 0)
        return std::nullopt;
    return std::chrono::seconds{whole} + std::chrono::milliseconds{part};
}

// Reads what is behind the combined format: other quoted fields, and words, of which one may tell
// the request's time.
void read_rest(LoggedRequest& logged, std::string_view text) {
    std::string ignored;
    while (!text.empty()) {
        if (text.starts_with('"')) {
            if (!take_quoted(text, ignored))
                return;
            continue;
        }
        const std::string_view word = text.substr(0, text.find(' '));
        if (const auto took = request_time_of(word)) {
            logged.duration = *took;
            logged.time -= *took;
            logged.tells_duration = true;
            return;
        }
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
}

void add_field(LoggedRequest& logged, const char* name, const std::string& value) {
    if (value != "-" && !has_control(value))
        logged.request.fields.emplace_back(name, value);
}

// Reads the status and the number of bytes sent, which may be "-".
bool take_status(std::string_view& text, int& status) {
    status = take_number(text, 3);
    if (status < 0 || !take(text, ' '))
        return false;
    const std::string_view size = text.substr(0, text.find(' '));
    text.remove_prefix(size.size());
    return size == "-" ||
           (!size.empty() && size.find_first_not_of("0123456789") == std::string_view::npos);
}

} // namespace

Result<LoggedRequest, std::string> parse_nginx_line(std::string_view line) {
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    std::string_view rest = line;
    const auto time = take_head(rest);
    const std::string_view client = line.substr(0, line.find(' '));
    if (!time || client.empty())
        return std::string{not_combined};
    LoggedRequest logged;
    logged.format = LogFormat::nginx;
    logged.time = *time;
    logged.whole_second = true;
    logged.tells_duration = false;
    if (!client.starts_with("unix:"))
        logged.request.client = client;
    std::string text;
    if (!take_quoted(rest, text) || !take(rest, ' ') || !take_status(rest, logged.status))
        return std::string{cut_off};
    read_request_line(logged.request, text);
    logged.decision = logged.status == 429 ? "refused" : "forwarded";
    // A quoted text without its closing quote means that the line was cut off.
    std::string agent;
    const bool has_referer = rest.starts_with(" \"");
    if (has_referer && (!take(rest, ' ') || !take_quoted(rest, text)))
        return std::string{cut_off};
    const bool has_agent = has_referer && rest.starts_with(" \"");
    if (has_agent && (!take(rest, ' ') || !take_quoted(rest, agent)))
        return std::string{cut_off};
    if (has_agent) {
        logged.told = &combined_fields;
        add_field(logged, "referer", text);
        add_field(logged, "user-agent", agent);
        read_rest(logged, rest);
    }
    return logged;
}

} // namespace stint::simulate
