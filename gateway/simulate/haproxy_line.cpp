#include "http/ascii.hpp"
#include "simulate/line_text.hpp"
#include "simulate/log_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <utility>

namespace stint::simulate {
namespace {

using std::chrono::milliseconds;

constexpr const char* not_httplog = "not HAProxy's httplog format";
constexpr long long longest_ms = 366LL * 24 * 3600 * 1000; // so that sums stay in range

// Returns the text with its escapes, "#" and two hexadecimal digits, decoded.
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const std::size_t size = std::min(text.find('#'), text.size());
        plain += text.substr(0, size);
        text.remove_prefix(size);
        unsigned value = 0;
        if (text.size() > 2 &&
            std::from_chars(text.data() + 1, text.data() + 3, value, 16).ptr == text.data() + 3) {
            plain += static_cast<char>(value);
            text.remove_prefix(3);
        } else if (!text.empty()) {
            plain += text.front();
            text.remove_prefix(1);
        }
    }
    return plain;
}

// Removes the client and the time, "192.0.2.1:4711 [25/Nov/2026:10:00:01.123] ", and any syslog
// prefix before them. Sets the request's client and time. Returns false if they are missing.
bool take_start(std::string_view& text, LoggedRequest& logged) {
    for (std::size_t at = text.find(" ["); at != std::string_view::npos;
         at = text.find(" [", at + 1)) {
        std::string_view rest = text.substr(at + 2);
        const auto second = take_log_date(rest);
        const bool point = second && take(rest, '.');
        const int part = point ? take_number(rest, 3) : -1;
        if (part < 0 || !take(rest, ']') || !take(rest, ' '))
            continue;
        std::string_view client = text.substr(0, at);
        client.remove_prefix(client.rfind(' ') + 1);
        const std::size_t port = client.rfind(':');
        if (port == std::string_view::npos)
            return false;
        logged.time = *second + milliseconds{part};
        if (!client.starts_with("unix:"))
            logged.request.client = client.substr(0, port);
        text = rest;
        return true;
    }
    return false;
}

// Reads "TR/Tw/Tc/Tr/Ta" in milliseconds, and sets the request's time and duration. -1 stands for a
// phase that was not reached. Ta has a plus sign if the line was written before the end of the
// response (option logasap); then the log does not tell the duration. Returns false for other text.
bool read_times(std::string_view text, LoggedRequest& logged) {
    std::array<long long, 5> ms{};
    for (std::size_t i = 0; i < ms.size(); ++i) {
        const std::string_view word = text.substr(0, text.find('/'));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        std::string_view number = word;
        if (i == 4 && take(number, '+'))
            logged.tells_duration = false;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), ms[i]);
        if (error != std::errc{} || end != number.data() + number.size())
            return false;
        ms[i] = std::clamp(ms[i], 0LL, longest_ms);
    }
    logged.time += milliseconds{ms[0]};
    logged.duration = milliseconds{std::max(0LL, ms[4] - ms[0] - ms[1])};
    return text.empty();
}

bool is_count(std::string_view text, std::ptrdiff_t slashes) {
    return !text.empty() && std::ranges::count(text, '/') == slashes &&
           text.find_first_not_of("0123456789/+-") == std::string_view::npos;
}

// Removes the words from the frontend's name to the queues' lengths. Sets the request's status,
// time and duration. Returns false if the words are not those of the format.
bool take_middle(std::string_view& text, LoggedRequest& logged) {
    // frontend, backend/server, times, status, bytes, two cookies, state, connections, queues
    std::array<std::string_view, 10> words;
    for (std::string_view& word : words) {
        const auto taken = take_until(text, ' ');
        if (!taken)
            return false;
        word = *taken;
    }
    std::string_view status = words[3];
    if (status == "-1")
        logged.status = 0; // no response was sent
    else if (logged.status = take_number(status, 3); logged.status < 0 || !status.empty())
        return false;
    return read_times(words[2], logged) && is_count(words[8], 4) && is_count(words[9], 1);
}

} // namespace

HaproxyParser::HaproxyParser(const std::vector<std::string>& captured) : names_{captured} {
    for (std::string& name : names_) {
        std::ranges::transform(name, name.begin(), http::ascii::lower);
        told_.insert(name);
    }
}

// Reads the captured values of "{one|two}", which belong to names_ in this order, as header fields
// of the request. Skips a value that is empty or has control characters.
void HaproxyParser::read_captured(LoggedRequest& logged, std::string_view values) const {
    logged.has_captures = names_.empty();
    for (const std::string& name : names_) {
        const std::string_view word = values.substr(0, values.find('|'));
        values.remove_prefix(std::min(word.size() + 1, values.size()));
        const std::string value = unescaped(word);
        if (value.empty() || has_control(value))
            continue;
        if (name == "host") {
            if (logged.request.host.empty()) // an absolute target tells it already
                logged.request.host = value;
        } else {
            logged.request.fields.emplace_back(name, value);
        }
    }
}

Result<LoggedRequest, std::string> HaproxyParser::parse(std::string_view line) const {
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    LoggedRequest logged;
    logged.format = LogFormat::haproxy;
    std::string_view rest = line;
    if (!take_start(rest, logged))
        return std::string{not_httplog};
    if (!take_middle(rest, logged))
        return std::string{"cut off, or not HAProxy's httplog format, which has more"};
    std::optional<std::string_view> captured;
    while (take(rest, '{')) { // the captured headers of the request, then those of the response
        const auto values = take_until(rest, '}');
        if (!values || !take(rest, ' '))
            return std::string{"cut off in the captured headers"};
        captured = captured.value_or(*values);
    }
    const auto request = take(rest, '"') ? take_until(rest, '"') : std::nullopt;
    if (!request)
        return std::string{"cut off in the request"};
    read_request_line(logged.request, unescaped(*request));
    if (captured && !captured->empty())
        read_captured(logged, *captured);
    if (captured)
        logged.told = &told_;
    logged.decision = logged.status == 429 ? "refused" : "forwarded";
    return logged;
}

} // namespace stint::simulate
