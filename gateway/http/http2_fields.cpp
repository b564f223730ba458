#include "http/http2_fields.hpp"

#include "http/ascii.hpp"

#include <array>
#include <cstddef>

namespace stint::http {
namespace {

// Fields of HTTP/1 that a response of HTTP/2 must not have (RFC 9113 section 8.2.2).
bool concerns_http1(std::string_view name) noexcept {
    static constexpr auto names = std::to_array<std::string_view>(
        {"connection", "transfer-encoding", "upgrade", "keep-alive", "proxy-connection"});
    for (const std::string_view each : names)
        if (ascii::equals_folded(name, each))
            return true;
    return false;
}

bool is_unique(std::string_view name) noexcept {
    return ascii::equals_folded(name, "x-request-id") || ascii::equals_folded(name, "set-cookie");
}

void add_lines(std::string_view lines, std::vector<Http2Field>& into) {
    for (;;) {
        const std::size_t end = lines.find("\r\n");
        if (end == std::string_view::npos || end == 0)
            return;
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end + 2);
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
