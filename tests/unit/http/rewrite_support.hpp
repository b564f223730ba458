// Heads as they are forwarded, and a look at them.
#pragma once

#include "http/head_parser.hpp"
#include "http/rewrite.hpp"
#include "http_support.hpp"

#include <ostream>
#include <string>
#include <string_view>

namespace stint::http::test {

inline const Forwarding forwarding{"192.0.2.7", "http", "", "id-1"};

inline std::string upstream(std::string_view head, const Forwarding& with = forwarding) {
    HeadParser parser{max_head};
    HeadBuffer out;
    write_upstream_head(out, parser.parse_request(head).value(), with);
    return std::string{out.view()};
}

inline std::string downstream(
    std::string_view head,
    std::string_view method = "GET",
    int client_minor = 1,
    bool keep_alive = true,
    std::string_view request_id = "",
    std::string_view date = "") {
    HeadParser parser{max_head};
    const ResponseHead response = parser.parse_response(head, method).value();
    HeadBuffer out;
    const ResponseFraming framing = frame_response(client_minor, response.framing, keep_alive);
    write_downstream_head(out, response, framing, request_id, date);
    return std::string{out.view()};
}

inline std::string response_with(std::string_view fields) {
    return "HTTP/1.1 200 OK\r\n" + std::string{fields} + "\r\n";
}

inline bool has(std::string_view head, std::string_view line) {
    return head.find("\r\n" + std::string{line} + "\r\n") != std::string_view::npos;
}

// How many fields of that name a head has.
inline int count(std::string_view head, std::string_view name) {
    const std::string start = "\r\n" + std::string{name} + ":";
    int found = 0;
    for (std::size_t at = head.find(start); at != std::string_view::npos;
         at = head.find(start, at + 1))
        ++found;
    return found;
}

} // namespace stint::http::test
