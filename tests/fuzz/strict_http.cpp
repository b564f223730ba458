#include "strict_http.hpp"

#include "oracle.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace stint::fuzz {

namespace {

using Body = Message::Body;

constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
constexpr std::string_view end_of_line = "\r\n";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || is_letter(c) || token_marks.find(c) != std::string_view::npos;
    });
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// No control characters but HTAB.
bool is_field_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0x7f || (byte < 0x20 && c != '\t');
    });
}

bool is_target(std::string_view method, std::string_view target) {
    if (target == "*")
        return method == "OPTIONS";
    return target.starts_with('/') && std::all_of(target.begin(), target.end(), [](char c) {
               return c > 0x20 && c < 0x7f &&
                      std::string_view{"\"#<>\\"}.find(c) == std::string_view::npos;
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

// Cuts off what comes before `mark`, and the mark; nothing, and leaves `text`, without one.
std::optional<std::string_view> cut(std::string_view& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at + mark.size());
    return before;
}

// A length as the gateway prints it: no signs, no leading zeros.
std::optional<std::uint64_t> length_of(std::string_view text) {
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (!is_number(text) || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return length;
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

enum class Read : std::uint8_t { whole, cut, malformed };

// Trailer fields up to the empty line, which is cut off with them.
Read read_trailer(std::string_view& bytes) {
    while (const auto line = cut(bytes, end_of_line)) {
        if (line->empty())
            return Read::whole;
        const std::size_t colon = line->find(':');
        if (colon == std::string_view::npos || !is_token(line->substr(0, colon)) ||
            !is_field_text(*line))
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
            return read_trailer(bytes);
        body += bytes.substr(0, *size);
        if (bytes.size() < *size + end_of_line.size())
            return Read::cut;
        if (bytes.substr(*size, end_of_line.size()) != end_of_line)
            return Read::malformed;
        bytes.remove_prefix(*size + end_of_line.size());
    }
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

// The fields after a start line, exactly as the gateway spells them.
void read_own_fields(std::string_view lines, Message& message, std::string_view head) {
    while (!lines.empty()) {
        const auto line = cut(lines, end_of_line);
        require(line.has_value(), "every line of a head ends with CRLF", head);
        const std::size_t colon = line->find(':');
        require(colon != std::string_view::npos, "every field has a colon", head);
        const std::string_view name = line->substr(0, colon);
        const std::string_view value = line->substr(colon + 1);
        require(is_token(name), "a field's name is a token", head);
        require(is_field_text(value), "a field's value has no control characters", head);
        require(value.starts_with(' ') || value.empty(), "a value follows one space", head);
        const std::string_view text = value.substr(value.empty() ? 0 : 1);
        require(trimmed(text) == text, "no white space surrounds a value", head);
        message.fields.emplace_back(lower(name), std::string{text});
    }
}

// Length or chunked, at most once, as stated by a head of the gateway's.
void read_own_framing(Message& message, std::string_view head) {
    const std::size_t codings = message.count("transfer-encoding");
    const std::size_t lengths = message.count("content-length");
    require(codings + lengths <= 1, "a head states its framing at most once", head);
    if (codings == 1) {
        require(
            message.value("transfer-encoding") == "chunked", "the only coding is chunked", head);
        message.framing = Body::chunked;
    } else if (lengths == 1) {
        const std::string_view text = message.value("content-length");
        const auto length = length_of(text);
        require(length.has_value(), "Content-Length is a number", head);
        require(std::to_string(*length) == text, "a length has no leading zeros", head);
        message.framing = Body::length;
        message.length = *length;
    }
    for (const std::string_view gone :
         {"keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate"})
        require(message.count(gone) == 0, "fields of one hop end there", head);
}

// Whether a reader in the client's place can tell where its message ends; fills in how.
bool read_client_framing(Message& message) {
    const std::size_t codings = message.count("transfer-encoding");
    const std::size_t lengths = message.count("content-length");
    if (codings + lengths > 1)
        return false;
    if (codings == 1) {
        message.framing = Body::chunked;
        return lower(message.value("transfer-encoding")) == "chunked" &&
               message.third == "HTTP/1.1";
    }
    if (lengths == 1) {
        const auto length = length_of(message.value("content-length"));
        message.framing = Body::length;
        message.length = length.value_or(0);
        return length && *length <= INT64_MAX;
    }
    return true;
}

bool read_client_head(std::string_view head, Message& message) {
    const auto line = cut(head, end_of_line);
    std::string_view rest = line.value_or(std::string_view{});
    message.first = cut(rest, " ").value_or(std::string_view{});
    message.second = cut(rest, " ").value_or(std::string_view{});
    message.third = rest;
    if (!is_token(message.first) || (message.third != "HTTP/1.1" && message.third != "HTTP/1.0"))
        return false;
    while (!head.empty()) {
        const std::string_view field = cut(head, end_of_line).value_or(std::string_view{});
        const std::size_t colon = field.find(':');
        if (colon == std::string_view::npos || !is_token(field.substr(0, colon)) ||
            !is_field_text(field))
            return false;
        message.fields.emplace_back(
            lower(field.substr(0, colon)), std::string{trimmed(field.substr(colon + 1))});
    }
    return read_client_framing(message);
}

bool is_last(const Message& request) {
    return request.lists("connection", "close") ||
           (request.third == "HTTP/1.0" && !request.lists("connection", "keep-alive"));
}

// The next head with its empty line, or nothing; a head that is cut off still has right lines.
std::optional<std::string_view> next_head(std::string_view& bytes) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) {
        require(bytes.find('\0') == std::string_view::npos, "no NUL in a head", bytes);
        return std::nullopt;
    }
    const std::string_view head = bytes.substr(0, end + 4);
    bytes.remove_prefix(head.size());
    return head;
}

} // namespace

std::size_t Message::count(std::string_view name) const {
    return static_cast<std::size_t>(std::count_if(
        fields.begin(), fields.end(), [name](const auto& field) { return field.first == name; }));
}

std::string_view Message::value(std::string_view name) const {
    for (const auto& [key, text] : fields)
        if (key == name)
            return text;
    return {};
}

bool Message::lists(std::string_view name, std::string_view element) const {
    for (const auto& [key, text] : fields) {
        std::string_view rest = text;
        for (bool more = key == name; more;) {
            const auto part = cut(rest, ",");
            more = part.has_value();
            if (lower(trimmed(part.value_or(rest))) == element)
                return true;
        }
    }
    return false;
}

Message read_request_head(std::string_view head) {
    Message message;
    std::string_view rest = head;
    require(head.find("\r\n\r\n") == head.size() - 4, "a head ends at its first empty line", head);
    std::string_view line = cut(rest, end_of_line).value_or(std::string_view{});
    message.first = cut(line, " ").value_or(std::string_view{});
    message.second = cut(line, " ").value_or(std::string_view{});
    message.third = line;
    require(is_token(message.first), "a method is a token", head);
    require(message.first != "CONNECT", "CONNECT is never forwarded", head);
    require(is_target(message.first, message.second), "a target is in origin-form", head);
    require(message.third == "HTTP/1.1", "the version is the gateway's own", head);
    read_own_fields(rest.substr(0, rest.size() - 2), message, head);
    require(message.count("host") == 1, "a request has one Host", head);
    read_own_framing(message, head);
    require(message.count("x-request-id") == 1, "a request has the gateway's id", head);
    require(message.value("via").ends_with(" stint"), "a request has gone via the gateway", head);
    require(message.count("x-forwarded-for") == 1, "a request names its client", head);
    return message;
}

Message read_response_head(std::string_view head, std::string_view method) {
    Message message;
    std::string_view rest = head;
    require(head.find("\r\n\r\n") == head.size() - 4, "a head ends at its first empty line", head);
    std::string_view line = cut(rest, end_of_line).value_or(std::string_view{});
    message.first = cut(line, " ").value_or(std::string_view{});
    message.second = cut(line, " ").value_or(std::string_view{});
    message.third = line;
    require(message.first == "HTTP/1.1", "the version is the gateway's own", head);
    require(
        message.second.size() == 3 && is_number(message.second) && message.second[0] >= '1' &&
            message.second[0] <= '5',
        "a status is from 100 to 599", head);
    require(is_field_text(message.third), "a reason has no control characters", head);
    read_own_fields(rest.substr(0, rest.size() - 2), message, head);
    read_own_framing(message, head);
    const bool interim = message.second[0] == '1';
    if (interim || message.second == "204")
        require(message.framing == Body::none, "1xx and 204 state no framing", head);
    else if (method == "HEAD" || message.second == "304")
        message.framing = Body::none;
    else if (message.framing == Body::none)
        message.framing = Body::until_close;
    if (message.framing == Body::until_close)
        require(message.lists("connection", "close"), "what ends by closing says so", head);
    return message;
}

std::vector<Message> read_requests(std::string_view bytes) {
    std::vector<Message> requests;
    const std::string_view all = bytes;
    while (!bytes.empty()) {
        const auto head = next_head(bytes);
        if (!head)
            return requests;
        Message request = read_request_head(*head);
        const Read end = read_body(bytes, request, true);
        require(end != Read::malformed, "a request's chunks are well-formed", all);
        request.whole = end == Read::whole;
        requests.push_back(std::move(request));
        if (requests.back().count("upgrade") > 0)
            break;
    }
    return requests;
}

std::vector<Message>
read_responses(std::string_view bytes, const std::vector<std::string>& methods) {
    std::vector<Message> responses;
    const std::string_view all = bytes;
    std::size_t answered = 0;
    while (!bytes.empty()) {
        const auto head = next_head(bytes);
        if (!head)
            return responses;
        const std::string_view method =
            answered < methods.size() ? std::string_view{methods[answered]} : std::string_view{};
        Message response = read_response_head(*head, method);
        const Read end = read_body(bytes, response, true);
        require(end != Read::malformed, "a response's chunks are well-formed", all);
        response.whole = end == Read::whole;
        responses.push_back(std::move(response));
        if (responses.back().second == "101")
            break;
        if (responses.back().second[0] == '1')
            continue;
        ++answered;
        if (responses.back().lists("connection", "close"))
            require(bytes.empty(), "nothing follows the last response", all);
    }
    return responses;
}

std::vector<Message> possible_requests(std::string_view bytes) {
    std::vector<Message> requests;
    for (;;) {
        if (bytes.starts_with(end_of_line))
            bytes.remove_prefix(end_of_line.size());
        const std::size_t end = bytes.find("\r\n\r\n");
        if (end == std::string_view::npos)
            return requests;
        Message request;
        if (!read_client_head(bytes.substr(0, end + end_of_line.size()), request))
            return requests;
        bytes.remove_prefix(end + 4);
        const Read read = read_body(bytes, request, false);
        request.whole = read == Read::whole;
        requests.push_back(std::move(request));
        if (read != Read::whole || is_last(requests.back()))
            return requests;
    }
}

bool read_chunked_body(std::string_view& bytes, std::string& body) {
    return read_chunks(bytes, body, false) == Read::whole;
}

std::string origin_form(std::string_view method, std::string_view target) {
    const std::size_t scheme = target.find("://");
    if (target.starts_with('/') || target == "*" || scheme == std::string_view::npos)
        return std::string{target};
    const std::string_view rest = target.substr(scheme + 3);
    const std::size_t path = rest.find_first_of("/?");
    if (path == std::string_view::npos)
        return method == "OPTIONS" ? "*" : "/";
    return std::string{rest[path] == '?' ? "/" : ""}.append(rest.substr(path));
}

} // namespace stint::fuzz
