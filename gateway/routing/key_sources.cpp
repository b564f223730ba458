#include "routing/key_sources.hpp"

#include "http/ascii.hpp"
#include "routing/json_member.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stint::routing {

namespace {

namespace ascii = http::ascii;

// Calls visit(value) for each line of the field `name` until it returns false.
template <class Visit>
void for_each_line(std::span<const Field> fields, std::string_view name, Visit visit) {
    for (const Field& field : fields)
        if (ascii::equals_folded(field.name, name) && !visit(field.value))
            return;
}

// Cuts the part before the first `separator` off `rest`, and returns it. The separator is dropped.
std::string_view cut(std::string_view& rest, char separator) noexcept {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

std::string_view unquoted(std::string_view value) noexcept {
    const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

// Removes the next character from `rest` and returns it decoded; nullopt if its escape is
// malformed.
std::optional<char> take_decoded(std::string_view& rest) noexcept {
    const char c = rest.front();
    if (c != '%') {
        rest.remove_prefix(1);
        return c == '+' ? ' ' : c;
    }
    const int high = rest.size() > 2 ? ascii::hex_value(rest[1]) : -1;
    const int low = rest.size() > 2 ? ascii::hex_value(rest[2]) : -1;
    if (high < 0 || low < 0)
        return std::nullopt;
    rest.remove_prefix(3);
    return static_cast<char>(high * 16 + low);
}

bool decodes_to(std::string_view encoded, std::string_view text) noexcept {
    for (const char wanted : text)
        if (encoded.empty() || take_decoded(encoded) != wanted)
            return false;
    return encoded.empty();
}

// Appends the decoded text to `out`. False, with `out` unchanged, if an escape is malformed.
bool append_decoded(std::string& out, std::string_view encoded) {
    const std::size_t begin = out.size();
    while (!encoded.empty()) {
        const auto c = take_decoded(encoded);
        if (!c) {
            out.resize(begin);
            return false;
        }
        out += *c;
    }
    return true;
}

// The base64url alphabet (RFC 4648 section 5): the value of each character, -1 for all others.
constexpr std::array<std::int8_t, 256> base64url_values = [] {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
    return values;
}();

// Appends decoded base64url, without padding as in a token (RFC 7515 section 2). False, with `out`
// unchanged, if the text is malformed.
bool append_base64url(std::string& out, std::string_view text) {
    const std::size_t begin = out.size();
    std::uint32_t bits = 0;
    unsigned count = 0;
    bool good = text.size() % 4 != 1;
    for (const char c : text) {
        const std::int8_t value = base64url_values[static_cast<unsigned char>(c)];
        good = good && value >= 0;
        bits = (bits << 6U | static_cast<std::uint8_t>(value)) & 0xFFFFFFU;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> count & 0xFFU);
        }
    }
    if (!good)
        out.resize(begin);
    return good;
}

// Returns the payload of the request's bearer token, in base64url as it was sent; "" if the request
// does not have one bearer token of three parts.
std::string_view bearer_payload(std::span<const Field> fields) {
    constexpr std::string_view scheme = "bearer";
    std::string_view credentials;
    std::size_t lines = 0;
    for_each_line(fields, "authorization", [&](std::string_view line) {
        credentials = line;
        return ++lines < 2;
    });
    const std::string_view name = cut(credentials, ' ');
    if (lines != 1 || !ascii::equals_folded(name, scheme))
        return {};
    std::string_view token = ascii::trim(credentials);
    if (std::count(token.begin(), token.end(), '.') != 2)
        return {};
    cut(token, '.');
    return cut(token, '.');
}

} // namespace

std::string_view
header_value(std::span<const Field> fields, std::string_view name, std::string& scratch) {
    const std::size_t begin = scratch.size();
    std::string_view only;
    std::size_t lines = 0;
    for_each_line(fields, name, [&](std::string_view line) {
        if (++lines == 1) {
            only = line;
            return true;
        }
        if (lines == 2)
            scratch += only;
        scratch.append(", ").append(line);
        return true;
    });
    return lines > 1 ? std::string_view{scratch}.substr(begin) : only;
}

std::string_view cookie_value(std::span<const Field> fields, std::string_view name) {
    std::string_view value;
    for_each_line(fields, "cookie", [&](std::string_view line) {
        while (!line.empty() && value.empty()) {
            std::string_view pair = cut(line, ';');
            const bool has_value = pair.find('=') != std::string_view::npos;
            if (ascii::trim(cut(pair, '=')) == name && has_value) {
                value = unquoted(ascii::trim(pair));
                return false;
            }
        }
        return true;
    });
    return value;
}

std::string_view query_value(std::string_view query, std::string_view name, std::string& scratch) {
    while (!query.empty()) {
        std::string_view parameter = cut(query, '&');
        if (!decodes_to(cut(parameter, '='), name))
            continue;
        if (parameter.find_first_of("%+") == std::string_view::npos)
            return parameter;
        const std::size_t begin = scratch.size();
        append_decoded(scratch, parameter);
        return std::string_view{scratch}.substr(begin);
    }
    return {};
}

std::string_view
jwt_claim(std::span<const Field> fields, std::string_view claim, std::string& scratch) {
    const std::size_t begin = scratch.size();
    if (!append_base64url(scratch, bearer_payload(fields)))
        return {};
    const auto found = json_member({scratch.data() + begin, scratch.size() - begin}, claim);
    scratch.erase(begin, found.begin);
    scratch.resize(begin + found.size);
    return std::string_view{scratch}.substr(begin);
}

} // namespace stint::routing
