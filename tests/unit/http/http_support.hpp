// What the tests of http/ share: heads from one-line descriptions, and what became of them.
#pragma once

#include "http/head_parser.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::http::test {

inline constexpr std::size_t max_head = 16 * 1024;

// A request head with a valid Host and `fields` ("A: b\r\n" each).
inline std::string get_with(std::string_view fields) {
    return "GET / HTTP/1.1\r\nHost: a.example\r\n" + std::string{fields} + "\r\n";
}

// The status with which a request head is refused, or 0 where it is accepted.
inline int refusal(std::string_view head) {
    HeadParser parser{max_head};
    const auto request = parser.parse_request(head);
    return request ? 0 : request.error().status;
}

// Whether a response head to `method` is refused.
inline bool response_refused(std::string_view head, std::string_view method = "GET") {
    HeadParser parser{max_head};
    return parser.parse_response(head, method).has_error();
}

} // namespace stint::http::test
