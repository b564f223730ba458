// Heads as the gateway forwards them: always its own serialisation, never the sender's bytes as
// they came (RFC 9110 section 7.6, RFC 9112 section 6).
#pragma once

#include "base/field_names.hpp"
#include "base/message.hpp"
#include "http/field_edits.hpp"
#include "http/head_buffer.hpp"
#include "http/ratelimit_fields.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// The gateway's knowledge about a request in addition to its head.
struct Forwarding {
    std::string_view peer_address; // for X-Forwarded-For; empty: "unknown" (a Unix socket)
    std::string_view scheme;       // for X-Forwarded-Proto: "http"
    std::string_view host;         // replaces Host when not empty
    std::string_view request_id;   // X-Request-Id, well-formed
    bool peer_is_trusted = false;  // the peer's forwarding fields are kept
    // Another field that names the client, its name in lower case; empty: none. Unless the peer is
    // trusted, the peer's address replaces its value.
    std::string_view client_field{};
    // The protocols offered in Upgrade, from offered_protocols(); empty: an ordinary request.
    std::string_view upgrade{};
    bool trailers = false;   // the response's trailers can be forwarded: "TE: trailers"
    std::string_view path{}; // replaces the target's path if not empty; the query stays
    bool forwarded = false;  // Forwarded (RFC 7239) is written even if no peer has begun it
    // The gateway's name in Via; null: default_pseudonym. Empty: the gateway adds no Via.
    const std::string* via = nullptr;
    // Field names in lower case. Connection cannot remove these fields, and no client's field may
    // imitate their names.
    std::span<const std::string> protected_fields{};
    const Shaping* shaping = nullptr; // the configuration's field edits; may be null
    // Fields accepted from a trusted peer only; nullptr: only X-Forwarded-For, -Proto and -Host.
    const FieldNames* trusted_fields = nullptr;
};

// Writes the head to send upstream, always in HTTP/1.1 and with a target in origin-form or "*".
//  - Writes Host, the end-to-end fields, the gateway's own framing (Content-Length or chunked, as
//    in head.framing) and X-Request-Id.
//  - X-Forwarded-For, -Proto and -Host describe the peer. Those of a trusted peer are kept or
//    appended to, and so is its Forwarded.
//  - Via is appended to the client's. If `via` is an empty name, only the client's is written.
//  - Removes the trusted-only fields of an untrusted peer, hop-by-hop fields, fields that
//    Connection names, Expect, X-Stint-*, Proxy and Proxy-*, and names that with "_" imitate one of
//    these, one that the gateway writes, or a protected one (http/field_names.hpp). Connection
//    cannot remove Host, framing, forwarding or protected fields, nor fields that shaping sets.
//  - Writes Connection only beside its own Upgrade and TE: an HTTP/1.1 connection is kept alive
//    without it.
void write_upstream_head(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding);

// The framing of the response to one client.
struct ResponseFraming {
    bool chunked = false;     // the gateway writes chunks
    bool keep_alive = true;   // otherwise "Connection: close" is written
    int client_minor = 1;     // an HTTP/1.0 client that keeps its connection gets "keep-alive"
    bool trailers = false;    // trailers may follow the last chunk: the Trailer field is sent
    bool until_close = false; // the end of the connection ends the body
};

// Chooses a response framing that this client supports. A body without a known length is chunked
// for HTTP/1.1 and delimited by close for 1.0.
[[nodiscard]] ResponseFraming
frame_response(const RequestHead& request, const ResponseHead& response, bool want_keep_alive);

// Chooses a framing in the same way. client_minor: minor version of the client's HTTP. body: the
// framing of the upstream's response.
[[nodiscard]] ResponseFraming
frame_response(int client_minor, const BodyFraming& body, bool want_keep_alive);

// Writes the head to send downstream, always in HTTP/1.1, with the upstream's status and reason.
//  - Writes the end-to-end fields without Expect, X-Stint-*, and names that imitate a removed field
//    with "_". A 426 keeps its Upgrade.
//  - Writes the framing: Content-Length as the number that was parsed, or "Transfer-Encoding:
//    chunked", or neither. A response to HEAD and a 304 keep the upstream's Content-Length.
//  - Writes X-Request-Id unless the upstream sent one, and `date`, the time of the response's
//    arrival, unless the upstream sent a Date (RFC 9110 section 6.6.1).
//  - shaping may be null; it sets no fields in interim responses. policies: the gateway's own
//    rate-limit fields, which follow the upstream's.
void write_downstream_head(
    HeadBuffer& out,
    const ResponseHead& head,
    const ResponseFraming& framing,
    std::string_view request_id,
    std::string_view date,
    const Shaping* shaping = nullptr,
    const PolicyFields& policies = {});

// Writes the head of a 101 in the same way: all bytes that follow it belong to `protocols`, from
// chosen_protocols().
void write_switching_head(
    HeadBuffer& out,
    const ResponseHead& head,
    std::string_view protocols,
    std::string_view request_id,
    const Shaping* shaping = nullptr,
    const PolicyFields& policies = {});

// The line before a chunk's payload, such as "1f\r\n". size: bytes of the payload, > 0. The payload
// is followed by chunk_end.
struct ChunkHeader {
    explicit ChunkHeader(std::size_t size) noexcept;
    [[nodiscard]] std::string_view view() const noexcept { return {text_, size_}; }

  private:
    char text_[18];
    std::size_t size_;
};
inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

} // namespace stint::http
