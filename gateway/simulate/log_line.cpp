#include "simulate/log_line.hpp"

#include "http/ascii.hpp"
#include "simulate/line_text.hpp"

#include <array>
#include <utility>

namespace stint::simulate {

LineParser::LineParser(const LogOptions& options)
    : forced_{options.format}, host_{options.host}, haproxy_{options.captured} {}

std::string mistake_in(const LogOptions& options) {
    for (const std::string& name : options.captured)
        if (name.empty() || !http::ascii::token.contains_all(name))
            return "--captured: \"" + name + "\" is not the name of a header";
    if (options.host.find_first_of(" \t/?#@\"") != std::string::npos || has_control(options.host))
        return "--host: \"" + options.host + "\" is not a host such as shop.example";
    return {};
}

Result<LoggedRequest, std::string>
LineParser::parse_as(LogFormat format, std::string_view line) const {
    switch (format) {
    case LogFormat::nginx:
        return parse_nginx_line(line);
    case LogFormat::haproxy:
        return haproxy_.parse(line);
    case LogFormat::stint:
        break;
    }
    return parse_stint_line(line);
}

Result<LoggedRequest, std::string>
LineParser::recognise(std::string_view line, std::optional<LogFormat>& expected) const {
    if (line.starts_with('{')) // JSON is the only format that starts so
        return parse_as(LogFormat::stint, line);
    constexpr std::array foreign{LogFormat::nginx, LogFormat::haproxy};
    const LogFormat first = expected.value_or(LogFormat::stint);
    auto parsed = parse_as(first, line);
    for (const LogFormat format : foreign) {
        if (parsed)
            break;
        if (format == first)
            continue;
        if (auto other = parse_as(format, line)) {
            expected = format;
            return other;
        }
    }
    if (!parsed && !expected)
        return std::string{"not a line of Stint's JSON, nginx's combined or HAProxy's httplog"};
    return parsed;
}

Result<LoggedRequest, std::string>
LineParser::parse(std::string_view line, std::optional<LogFormat>& expected) const {
    auto parsed = forced_ ? parse_as(*forced_, line) : recognise(line, expected);
    if (!parsed)
        return parsed;
    expected = parsed->format;
    if (parsed->format != LogFormat::stint && parsed->request.host.empty())
        parsed->request.host = host_;
    return parsed;
}

} // namespace stint::simulate
