#include "http/ascii.hpp"
#include "simulate/line_text.hpp"
#include "simulate/log_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace stint::simulate {
namespace {

using Json = nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Removes a fraction of a second such as ".123" from the front of `text`, if there is one. Returns
// false for a point without a digit.
bool take_fraction(std::string_view& text, nanoseconds& fraction) {
    if (!take(text, '.'))
        return true;
    const std::size_t size = text.find_first_not_of("0123456789");
    nanoseconds unit = seconds{1};
    for (const char c : text.substr(0, size))
        fraction += (c - '0') * (unit /= 10);
    text.remove_prefix(std::min(size, text.size()));
    return size > 0;
}

// Removes a UTC offset, "Z" or "+01:00", from the front of `text`. Returns false if it is missing
// or invalid.
bool take_offset(std::string_view& text, minutes& offset) {
    if (take(text, 'Z'))
        return true;
    const bool east = take(text, '+');
    if (!east && !take(text, '-'))
        return false;
    const int hour = take_number(text, 2);
    const bool colon = take(text, ':');
    const int minute = take_number(text, 2);
    offset = hours{hour} + minutes{minute};
    offset = east ? offset : -offset;
    return colon && hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

std::string text_of(const Json& line, const char* member) {
    const auto found = line.find(member);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

// Returns a member with decimal milliseconds as a duration, 0 if absent. Limited to a year, so that
// sums stay in range.
Duration duration_of(const Json& line, const char* member) {
    const auto found = line.find(member);
    if (found == line.end() || !found->is_number())
        return {};
    const double ms = std::clamp(found->get<double>(), 0.0, 366.0 * 24 * 3600 * 1000);
    return Duration{std::llround(ms * 1e6)};
}

int status_of(const Json& line) {
    const auto found = line.find("status");
    return found != line.end() && found->is_number_integer() ? found->get<int>() : 0;
}

} // namespace

Result<WallTime, std::string> parse_time(std::string_view text) {
    const std::string whole{text};
    const int year = take_number(text, 4);
    bool right = take(text, '-');
    const int month = take_number(text, 2);
    right = take(text, '-') && right;
    const int day = take_number(text, 2);
    right = (take(text, 'T') || take(text, 't') || take(text, ' ')) && right;
    const int hour = take_number(text, 2);
    right = take(text, ':') && right;
    const int minute = take_number(text, 2);
    right = take(text, ':') && right;
    const int second = take_number(text, 2);
    nanoseconds fraction{};
    minutes offset{};
    right = take_fraction(text, fraction) && take_offset(text, offset) && right && text.empty();
    const auto date = std::chrono::year{year} / month / day;
    // Years are limited to the range of 64-bit nanoseconds since the epoch. Second 60 is a leap
    // second.
    if (!right || !date.ok() || year < 1970 || year > 2200 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60)
        return "\"" + whole + "\" is not a time such as 2026-11-21T11:02:37.751Z";
    return WallTime{std::chrono::sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} +
           fraction - offset;
}

bool LoggedRequest::tells(std::string_view field) const noexcept {
    if (field == "host")
        return tells_host();
    return (told != nullptr && told->contains(field)) ||
           std::ranges::any_of(request.fields, [&](const auto& each) {
               return http::ascii::equals_folded(each.first, field);
           });
}

Result<LoggedRequest, std::string> parse_stint_line(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
        return "not a JSON object";
    if (!json.contains("time") || !json.contains("decision"))
        return "no line of Stint's access log: it has no \"time\" or no \"decision\"";
    const auto time = parse_time(text_of(json, "time"));
    if (!time)
        return time.error();
    LoggedRequest logged;
    logged.time = *time;
    logged.duration = duration_of(json, "duration_ms");
    logged.duration -= std::min(logged.duration, duration_of(json, "waited_ms"));
    logged.request.client = text_of(json, "client");
    logged.request.host = text_of(json, "host");
    logged.request.method = text_of(json, "method");
    logged.request.target = text_of(json, "path");
    logged.route = text_of(json, "route");
    logged.limit = text_of(json, "limit");
    logged.decision = text_of(json, "decision");
    logged.status = status_of(json);
    if (const auto fields = json.find("fields"); fields != json.end() && fields->is_object())
        for (const auto& [name, value] : fields->items())
            if (value.is_string())
                logged.request.fields.emplace_back(name, value.get<std::string>());
    return logged;
}

} // namespace stint::simulate
