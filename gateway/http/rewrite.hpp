// Heads as the gateway forwards them: always its own serialisation, never the sender's bytes as
// they came (RFC 9110 section 7.6, RFC 9112 section 6).
#pragma once

#include "base/field_names.hpp"
#include "base/message.hpp"
#include "http/field_edits.hpp"
#include "http/head_buffer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// What the gateway knows about the request beyond its head.
struct Forwarding {
    std::string_view peer_address; // for X-Forwarded-For; empty: "unknown" (a Unix socket)
    std::string_view scheme;       // for X-Forwarded-Proto: "http"
    std::string_view host;         // replaces Host when not empty
    std::string_view request_id;   // X-Request-Id, well-formed
    bool peer_is_trusted = false;  // what it says of those before it is kept
    // Another field that names the client, in lower case; empty: none. Unless the peer is trusted
    // it is replaced by the peer's address.
    std::string_view client_field{};
    // What Upgrade offers, from offered_protocols(); empty: the request is an ordinary one.
    std::string_view upgrade{};
    bool trailers = false;   // those of the response can be passed on: "TE: trailers"
    std::string_view path{}; // replaces the target's when not empty; its query stays
    bool forwarded = false;  // Forwarded (RFC 7239) is written also where no peer has begun it
    // Names in lower case that Connection cannot name away and that nobody may imitate.
    std::span<const std::string> protected_fields{};
    const Shaping* shaping = nullptr; // what the configuration sets and removes; may be null
    // What only a trusted peer may say; nullptr: nothing beside X-Forwarded-For, -Proto and -Host.
    const FieldNames* trusted_fields = nullptr;
};

// Writes the head to send upstream: origin-form target, HTTP/1.1, Host, end-to-end fields, our own
// framing (length or chunked as in head.framing), X-Forwarded-For/-Proto/-Host (replaced; of a
// trusted peer appended to or kept, Forwarded too), Via (appended to the client's), X-Request-Id.
// Removed: of an untrusted peer what only a trusted one may say, hop-by-hop fields and whatever
// Connection names (but nobody can name away Host, framing, forwarding or protected fields),
// Expect, X-Stint-*, Proxy and Proxy-*, and names that imitate one of these with "_"
// (http/field_names.hpp). What shaping sets is the configuration's alone: no Connection names it
// away. The connection is kept alive (1.1's default), so a Connection field is written only beside
// our own Upgrade and TE.
void write_upstream_head(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding);

// How the response goes to this client.
struct ResponseFraming {
    bool chunked = false;   // we write chunks (the upstream's were chunked or close-delimited)
    bool keep_alive = true; // otherwise "Connection: close" is written
    int client_minor = 1;   // an HTTP/1.0 client that keeps its connection is told "keep-alive"
    bool trailers = false;  // the upstream's may follow the last chunk: its Trailer field is told
};

// What of a response's framing this client can be given. A body without a known length is chunked
// for HTTP/1.1 and delimited by close for 1.0.
[[nodiscard]] ResponseFraming
frame_response(const RequestHead& request, const ResponseHead& response, bool want_keep_alive);

// The same, from what must be remembered of the request.
[[nodiscard]] ResponseFraming
frame_response(int client_minor, const BodyFraming& body, bool want_keep_alive);

// Writes the head to send downstream: "HTTP/1.1", the upstream's status, reason and end-to-end
// fields without Expect, X-Stint-* and names that imitate one that ends here (a 426 keeps its
// Upgrade), framing (Content-Length as a number we print, or Transfer-Encoding: chunked, or
// neither; a HEAD or 304 response keeps the upstream's Content-Length), X-Request-Id unless the
// upstream sent one, and `date`, when the response came, unless the upstream dated it itself (RFC
// 9110 section 6.6.1). shaping: may be null; into interim responses it sets nothing.
void write_downstream_head(
    HeadBuffer& out,
    const ResponseHead& head,
    const ResponseFraming& framing,
    std::string_view request_id,
    std::string_view date,
    const Shaping* shaping = nullptr);

// The same for a 101: all that follows it belongs to `protocols`, from chosen_protocols().
void write_switching_head(
    HeadBuffer& out,
    const ResponseHead& head,
    std::string_view protocols,
    std::string_view request_id,
    const Shaping* shaping = nullptr);

// The line before a chunk's payload, "1f\r\n"; size > 0. After the payload goes "\r\n".
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
