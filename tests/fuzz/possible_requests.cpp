#include "http_text.hpp"

#include <algorithm>

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

// The segments that are left of a path, with "." and ".." gone their way; none is empty but the
// last.
std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> left;
    for (bool more = true; more;) {
        const auto segment = cut(path, "/");
        more = segment.has_value();
        const std::string_view text = segment.value_or(path);
        const bool dots = is_dot_segment(text);
        const bool up = dots && lower(text) != "." && lower(text) != "%2e";
        if (up && !left.empty())
            left.pop_back();
        if (!dots && !text.empty())
            left.push_back(text);
        if (!more && (dots || text.empty()))
            left.emplace_back();
    }
    return left;
}

// What becomes of escapes, and of what ought to be one, is the head parser's fuzzer's to judge.
bool same_but_for_escapes(std::string_view one, std::string_view other) {
    return one == other || one.find_first_of("%[]^`{|}") != std::string_view::npos;
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
    const std::string_view path = path_of(own);
    if (!is_ambiguous(path) || is_ambiguous(path_of(seen)) ||
        own.substr(path.size()) != seen.substr(path_of(seen).size()))
        return false;
    const auto asked = segments_of(path);
    const auto read = segments_of(path_of(seen));
    return std::equal(asked.begin(), asked.end(), read.begin(), read.end(), same_but_for_escapes);
}

} // namespace stint::fuzz
