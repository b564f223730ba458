#include "http/http2_fields.hpp"

#include "http/ascii.hpp"

#include <cstddef>

namespace stint::http {
namespace {

// Fields of HTTP/1 that a response of HTTP/2 must not have (RFC 9113 section 8.2.2).
bool concerns_http1(std::string_view name) noexcept {
    switch (name.size()) {
    case std::string_view{"upgrade"}.size():
        return ascii::equals_folded(name, "upgrade");
    case std::string_view{"connection"}.size():
        return ascii::equals_folded(name, "connection") || ascii::equals_folded(name, "keep-alive");
    case std::string_view{"proxy-connection"}.size():
        return ascii::equals_folded(name, "proxy-connection");
    case std::string_view{"transfer-encoding"}.size():
        return ascii::equals_folded(name, "transfer-encoding");
    default:
        return false;
    }
}

bool is_unique(std::string_view name) noexcept {
    return ascii::equals_folded(name, "x-request-id") || ascii::equals_folded(name, "set-cookie");
}

// A line is "name: value" CRLF; neither has a CR or LF of its own.
void add_lines(std::string_view lines, std::vector<Http2Field>& into) {
    for (;;) {
        const std::size_t end = lines.find('\n');
        if (end == std::string_view::npos || end <= 1)
            return;
        const std::string_view line = lines.substr(0, end - 1);
        lines.remove_prefix(end + 1);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            continue;
        const std::string_view name = line.substr(0, colon);
        if (!concerns_http1(name))
            into.push_back({name, ascii::trim(line.substr(colon + 1)), is_unique(name)});
    }
}

} // namespace

void fields_of_response(std::string_view head, std::vector<Http2Field>& into) {
    constexpr std::size_t before_status = std::string_view{"HTTP/1.1 "}.size();
    into.clear();
    into.push_back({":status", head.substr(before_status, 3)});
    const std::size_t end = head.find("\r\n");
    add_lines(head.substr(end + 2), into);
}

void fields_of_trailer(std::string_view lines, std::vector<Http2Field>& into) {
    into.clear();
    add_lines(lines, into);
}

} // namespace stint::http
