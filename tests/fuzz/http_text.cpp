#include "http_text.hpp"

#include <algorithm>
#include <charconv>

namespace stint::fuzz {

namespace {

using Body = Message::Body;

constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// What a chunk's first line says, its extensions apart.
std::optional<std::uint64_t> chunk_size(std::string_view line) {
    const std::string_view digits = trimmed(line.substr(0, line.find(';')));
    std::uint64_t size = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (digits.empty() || digits.size() > 15 || error != std::errc{} ||
        end != digits.data() + digits.size())
        return std::nullopt;
    return size;
}

// Whether the field would say something of framing, routing or the connection.
bool is_head_field(std::string_view name) {
    const std::string folded = lower(name);
    return folded == "content-length" || folded == "transfer-encoding" || folded == "host" ||
           folded == "connection" || folded == "trailer" || folded == "te" || folded == "upgrade";
}

// Trailer fields up to the empty line, which is cut off with them.
Read read_trailer(std::string_view& bytes, bool strict) {
    while (const auto line = cut(bytes, end_of_line)) {
        if (line->empty())
            return Read::whole;
        const std::size_t colon = line->find(':');
        if (colon == std::string_view::npos || !is_token(line->substr(0, colon)) ||
            !is_field_text(*line))
            return Read::malformed;
        if (strict && is_head_field(line->substr(0, colon)))
            return Read::malformed;
    }
    return Read::cut;
}

// strict: as the gateway writes chunks, without extensions and in lower case.
Read read_chunks(std::string_view& bytes, std::string& body, bool strict) {
    for (;;) {
        const auto line = cut(bytes, end_of_line);
        if (!line)
            return Read::cut;
        const auto size = chunk_size(*line);
        if (!size || !is_field_text(*line))
            return Read::malformed;
        if (strict && line->find_first_not_of("0123456789abcdef") != std::string_view::npos)
            return Read::malformed;
        if (*size == 0)
            return read_trailer(bytes, strict);
        body += bytes.substr(0, *size);
        if (bytes.size() < *size + end_of_line.size())
            return Read::cut;
        if (bytes.substr(*size, end_of_line.size()) != end_of_line)
            return Read::malformed;
        bytes.remove_prefix(*size + end_of_line.size());
    }
}

} // namespace

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || is_letter(c) || token_marks.find(c) != std::string_view::npos;
    });
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_field_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0x7f || (byte < 0x20 && c != '\t');
    });
}

std::string lower(std::string_view text) {
    std::string out{text};
    for (char& c : out)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::optional<std::string_view> cut(std::string_view& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at + mark.size());
    return before;
}

std::optional<std::uint64_t> length_of(std::string_view text) {
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (!is_number(text) || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return length;
}

Read read_body(std::string_view& bytes, Message& message, bool strict) {
    switch (message.framing) {
    case Body::none:
        return Read::whole;
    case Body::length: {
        const auto taken = std::min<std::uint64_t>(bytes.size(), message.length);
        message.body = bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        return taken == message.length ? Read::whole : Read::cut;
    }
    case Body::chunked:
        return read_chunks(bytes, message.body, strict);
    case Body::until_close:
        break;
    }
    message.body = bytes;
    bytes = {};
    return Read::cut;
}

bool read_chunked_body(std::string_view& bytes, std::string& body) {
    return read_chunks(bytes, body, false) == Read::whole;
}

} // namespace stint::fuzz
