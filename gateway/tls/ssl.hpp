// The TLS object of one connection (OpenSSL's SSL), and facts about the peer. The reading and
// writing is in net/.
//
// OpenSSL keeps errors in a queue per thread, and a stale error falsifies the result of later
// calls. A caller that gets an error must clear the queue, preferably by reason_of_failure().
#pragma once

#include <memory>
#include <string>
#include <string_view>

using SSL = struct ssl_st;

namespace stint::tls {

struct SslDeleter {
    void operator()(SSL* ssl) const noexcept;
};
using SslPtr = std::unique_ptr<SSL, SslDeleter>;

// Returns a human-readable reason for a failed handshake, with the peer as "it": "its certificate
// has expired", "its certificate is for other.example, not for shop.example", "it does not speak
// TLS". Reads and clears the thread's error queue. expected_name: the server name that a client
// connected to; "" on a server.
[[nodiscard]] std::string reason_of_failure(SSL& ssl, std::string_view expected_name);

// Returns true if a connection with this first byte probably speaks plaintext HTTP: HTTP methods
// begin with a letter, while TLS records begin with a type from 20 to 24 (RFC 8446 section 5.1 and
// appendix B.1).
[[nodiscard]] constexpr bool begins_plain_http(char first) noexcept {
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

// Returns the subject of the peer's verified certificate as RFC 2253 text ("CN=robot,O=Example");
// "" if the peer has none.
[[nodiscard]] std::string peer_subject(SSL& ssl);

// Returns the protocol of a connection whose handshake is complete: "TLSv1.3". A literal.
[[nodiscard]] std::string_view version_of(SSL& ssl);

// True if ALPN has chosen HTTP/2 (RFC 7301). Requires a complete handshake.
[[nodiscard]] bool chose_http2(SSL& ssl);

} // namespace stint::tls
