// Values as RESP3 text: what a server would send.
#pragma once

#include "redis/resp/value.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace stint::test {

inline std::string real_text(double number) {
    if (std::isnan(number))
        return "nan";
    if (std::isinf(number))
        return number < 0 ? "-inf" : "inf";
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

inline void append_resp3(std::string& out, const redis::Value& value) {
    using Kind = redis::Value::Kind;
    const auto line = [&out](char type, std::string_view content) {
        out.append(1, type).append(content).append("\r\n");
    };
    const auto bytes = [&](char type, std::string_view format = {}) {
        line(type, std::to_string(format.size() + value.text.size()));
        out.append(format).append(value.text).append("\r\n");
    };
    const auto items = [&](char type, std::size_t count) {
        line(type, std::to_string(count));
        for (const redis::Value& item : value.items)
            append_resp3(out, item);
    };
    switch (value.kind) {
    case Kind::nil:
        return line('_', "");
    case Kind::integer:
        return line(':', std::to_string(value.integer));
    case Kind::boolean:
        return line('#', value.integer != 0 ? "t" : "f");
    case Kind::real:
        return line(',', real_text(value.real));
    case Kind::simple:
        return line('+', value.text);
    case Kind::bulk:
        return bytes('$');
    case Kind::verbatim:
        return bytes('=', "txt:");
    case Kind::big_number:
        return line('(', value.text);
    case Kind::error:
        return bytes('!');
    case Kind::array:
        return items('*', value.items.size());
    case Kind::set:
        return items('~', value.items.size());
    case Kind::map:
        return items('%', value.items.size() / 2);
    case Kind::push:
        return items('>', value.items.size());
    }
}

inline std::string resp3(const redis::Value& value) {
    std::string out;
    append_resp3(out, value);
    return out;
}

} // namespace stint::test
