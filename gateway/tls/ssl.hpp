// One connection's TLS: the owner of OpenSSL's object, and facts about the peer. net/ moves the
// bytes.
//
// OpenSSL keeps its errors in a queue of the thread, and a stale one spoils what the next call
// says: a caller that gets an error empties the queue, best with reason_of_failure().
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

// Returns why a handshake failed, for a person, with the peer as "it": "its certificate has
// expired", "its certificate is for other.example, not for shop.example", "it does not speak TLS".
// From the thread's error queue, which is left empty, and from the outcome of the verification.
// expected_name: what a client connected to; "" on a server.
[[nodiscard]] std::string reason_of_failure(SSL& ssl, std::string_view expected_name);

// True if a client whose first byte this is most likely takes the port for one of plain HTTP:
// methods begin with a letter. A TLS record begins with its type, 20 to 24 (RFC 8446 section 5.1
// and appendix B.1).
[[nodiscard]] constexpr bool begins_plain_http(char first) noexcept {
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

// Returns the subject of the certificate that the peer has shown and that was verified, as RFC 2253
// text ("CN=robot,O=Example"); "" without one.
[[nodiscard]] std::string peer_subject(SSL& ssl);

} // namespace stint::tls
