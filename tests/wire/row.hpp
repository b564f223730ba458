// One behaviour on the wire: what a client sends, what an upstream answers, and what each of them
// then has seen. Rows are data; play.hpp runs them.
#pragma once

#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::wire {

// Texts are bytes as they go over the wire, but for what expectations leave out because it is the
// same everywhere or differs each time (transcript.hpp):
//   upstream_saw: X-Request-Id; X-Forwarded-For, -Proto, -Host and Via where they say what they say
//     of any request; a chunked body stands as its payload, "<0>" and what trailers there are.
//     Host stands as "{endpoint}" where it is the upstream's own address and port.
//   client_got: X-Request-Id and Date; an answer of the gateway's own stands as "<404>", or
//     "<400 close>" if it ends the connection; chunked as above; the connection's end as "<end>".
// A message that was broken off ends with "<cut>".
struct Row {
    enum class When : unsigned char { request, head };
    enum class End : unsigned char { none, half_close, close, reset };

    // What becomes of it over HTTP/2 (http2_text.hpp says how a row is played there).
    struct OverHttp2 {
        enum class Played : unsigned char {
            yes,
            only_http1, // it is about what HTTP/2 has not, such as chunks or the request line
            no          // HTTP/2 could have it
        };
        Played played = Played::yes;
        std::string why{};                         // it is not played, or expects something else
        std::string client_got{};                  // if it differs; as read_http2() writes it
        std::optional<std::string> upstream_saw{}; // if it differs
    };

    std::string name;   // the behaviour, as a sentence
    std::string source; // where it is required, or what it guards against
    std::string client;
    std::string upstream_saw{}; // nothing, if empty
    std::string client_got{};

    std::string then{};                 // that the client sends when all is quiet
    std::vector<std::string> answers{}; // to the requests in turn, the last to all others
    When answered = When::request;      // when the upstream has seen so much
    End upstream_ends = End::none;      // after each answer
    End client_ends = End::none;        // after all it has sent
    std::string config{};               // one route without limits, if empty
    Duration passes{};                  // at the end
    bool half_close_allowed = false;    // by the listener
    bool whole_hops = false;            // nothing of what the upstream saw is left out
    bool tunnel = false;                // behind the request go bytes of another protocol
    bool may_begin = false;             // a request that is cut off may be seen before
    bool once = false;                  // not at every split position
    OverHttp2 http2{};
};

// It is about something that only HTTP/1 has.
inline Row::OverHttp2 only_http1(std::string why) {
    return {.played = Row::OverHttp2::Played::only_http1, .why = std::move(why)};
}
// It is about more than that, and is left out over HTTP/2 all the same.
inline Row::OverHttp2 left_out(std::string why) {
    return {.played = Row::OverHttp2::Played::no, .why = std::move(why)};
}
// The client gets this instead, and the upstream sees nothing.
inline Row::OverHttp2 refused_with(std::string client_got, std::string why) {
    return {.why = std::move(why), .client_got = std::move(client_got), .upstream_saw = ""};
}
inline Row with_http2(Row row, Row::OverHttp2 http2) {
    row.http2 = std::move(http2);
    return row;
}

inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
inline const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
// Fields that concern HTTP/1's connections make a request malformed.
inline const Row::OverHttp2 malformed_in_http2 = refused_with("<reset>", "RFC 9113 8.2.2");
inline const Row::OverHttp2 no_request_line = only_http1("HTTP/2 has no request line");
inline const Row::OverHttp2 no_old_version = only_http1("HTTP/2 says no version");
inline const Row::OverHttp2 no_chunks = only_http1("HTTP/2 has DATA frames instead");
inline const std::string bad = "<400 close><end>";

// A head: its lines, one after the other, and the empty line.
template <class... Lines>
std::string head(const Lines&... lines) {
    std::string text;
    (text.append(lines).append("\r\n"), ...);
    return text.append("\r\n");
}

// GET / with these fields beside Host.
template <class... Fields>
std::string with(const Fields&... fields) {
    return head("GET / HTTP/1.1", "Host: a", fields...);
}

// POST / with these fields and this body.
template <class... Fields>
std::string post(std::string_view body, const Fields&... fields) {
    return head("POST / HTTP/1.1", "Host: a", fields...).append(body);
}

// A route that nobody may use, with this match, beside one for everything else: what was meant for
// the first is answered 403.
inline std::string closed_route(std::string_view match) {
    std::string yaml =
        "limits: {closed: {requests: 1, per: 1h, key: client_ip, deny: [127.0.0.1]}}\n"
        "routes:\n"
        "  - {name: rest, match: {path: /}, upstream: origin}\n"
        "  - {name: closed, upstream: origin, limits: [closed], match: {";
    return yaml.append(match).append("}}\n");
}

inline std::string operator&(std::string left, std::string_view right) {
    return left.append(right);
}

using Rows = std::vector<Row>;

} // namespace stint::wire
