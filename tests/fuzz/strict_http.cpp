#include "strict_http.hpp"

#include "http_text.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <optional>

namespace stint::fuzz {

namespace {

using Body = Message::Body;

bool is_target(std::string_view method, std::string_view target) {
    if (target == "*")
        return method == "OPTIONS";
    return target.starts_with('/') && std::all_of(target.begin(), target.end(), [](char c) {
               return c > 0x20 && c < 0x7f &&
                      std::string_view{"\"#<>\\"}.find(c) == std::string_view::npos;
           });
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

} // namespace stint::fuzz
