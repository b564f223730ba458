#include "http_text.hpp"

namespace stint::fuzz {

namespace {

using Body = Message::Body;

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

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

bool is_dot_segment(std::string_view segment) {
    int dots = 0;
    for (; !segment.empty(); ++dots) {
        if (!segment.starts_with('.') && lower(segment.substr(0, 3)) != "%2e")
            return false;
        segment.remove_prefix(segment.starts_with('.') ? 1 : 3);
    }
    return dots == 1 || dots == 2;
}

// Whether servers read this path in more than one way.
bool is_ambiguous(std::string_view path) {
    if (path.starts_with("//"))
        return true;
    while (const auto segment = cut(path, "/"))
        if (is_dot_segment(*segment))
            return true;
    return is_dot_segment(path);
}

bool is_last(const Message& request) {
    return request.lists("connection", "close") ||
           (request.third == "HTTP/1.0" && !request.lists("connection", "keep-alive"));
}

} // namespace

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

bool may_arrive_as(std::string_view method, std::string_view target, std::string_view seen) {
    const std::string own = origin_form(method, target);
    if (own == seen)
        return true;
    return is_ambiguous(path_of(own)) && !is_ambiguous(path_of(seen)) &&
           own.substr(path_of(own).size()) == seen.substr(path_of(seen).size());
}

} // namespace stint::fuzz
