#include "simulate/line_text.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace stint::simulate {
namespace {

// Returns the authority of a target such as "http://host:80/path"; empty if it is not absolute.
std::string_view authority_of(std::string_view target) {
    const std::size_t colon = target.find("://");
    if (target.starts_with('/') || colon == std::string_view::npos)
        return {};
    const std::string_view rest = target.substr(colon + 3);
    return rest.substr(0, rest.find_first_of("/?#"));
}

// Removes an English month such as "Nov" and returns its number, from 1; 0 if there is none.
unsigned take_month(std::string_view& text) {
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::ranges::find(months, text.substr(0, 3));
    if (found == months.end())
        return 0;
    text.remove_prefix(3);
    return static_cast<unsigned>(found - months.begin()) + 1;
}

} // namespace

int take_number(std::string_view& text, std::size_t digits) {
    if (text.size() < digits)
        return -1;
    int value = 0;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9')
            return -1;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, char expected) {
    if (!text.starts_with(expected))
        return false;
    text.remove_prefix(1);
    return true;
}

std::optional<std::string_view> take_until(std::string_view& text, char end) {
    const std::size_t size = text.find(end);
    if (size == std::string_view::npos)
        return std::nullopt;
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(size + 1);
    return taken;
}

std::optional<WallTime> take_log_date(std::string_view& text) {
    std::string_view rest = text;
    const int day = take_number(rest, 2);
    bool right = take(rest, '/');
    const unsigned month = take_month(rest);
    right = take(rest, '/') && right;
    const int year = take_number(rest, 4);
    right = take(rest, ':') && right;
    const int hour = take_number(rest, 2);
    right = take(rest, ':') && right;
    const int minute = take_number(rest, 2);
    right = take(rest, ':') && right;
    const int second = take_number(rest, 2);
    const auto date = std::chrono::year{year} / static_cast<int>(month) / day;
    if (!right || !date.ok() || year < 1970 || year > 2200 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60)
        return std::nullopt;
    text = rest;
    return WallTime{std::chrono::sys_days{date}} + std::chrono::hours{hour} +
           std::chrono::minutes{minute} + std::chrono::seconds{second};
}

bool has_control(std::string_view text) noexcept {
    return std::ranges::any_of(text, http::ascii::is_forbidden_control);
}

void read_request_line(runtime::SyntheticRequest& request, std::string_view line) {
    request.method.clear();
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == 0 || last == first ||
        !line.substr(last + 1).starts_with("HTTP/") || has_control(line))
        return;
    request.method = line.substr(0, first);
    request.target = line.substr(first + 1, last - first - 1);
    request.host = authority_of(request.target);
}

} // namespace stint::simulate
