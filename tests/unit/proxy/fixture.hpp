// What the tests of proxy/ say to the gateway in few words.
#pragma once

#include "in_process_gateway.hpp"

#include <string>
#include <string_view>

namespace stint::test {

using namespace std::chrono_literals;
using observe::Outcome;

inline constexpr std::string_view plain =
    "routes: [{name: all, match: {path: /}, upstream: origin}]";
inline constexpr std::string_view one_at_a_time =
    "limits: {slot: {concurrent: 1}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot]}]";

inline constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// A response with a body of known length, as far as the end of its body.
inline std::string read_response(Wire& client, std::size_t body_size = 2) {
    std::string head = client.read_head();
    return head + client.read(body_size);
}

} // namespace stint::test
