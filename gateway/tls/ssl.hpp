// One connection's TLS: what OpenSSL's object is owned by, and what can be said of its peer. Bytes
// are moved by net/.
//
// OpenSSL keeps its errors in a queue of the thread, and a stale one spoils what the next call
// says: whoever gets an error empties the queue, best with reason_of_failure().
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

// Why a handshake failed, for a person, with the peer as "it": "its certificate has expired", "its
// certificate is for other.example, not for shop.example", "it does not speak TLS". From the
// thread's error queue, which is left empty, and from the outcome of the verification.
// expected_name: what a client connected to; "" on a server.
[[nodiscard]] std::string reason_of_failure(SSL& ssl, std::string_view expected_name);

// The peer began with a request in plain HTTP. Looks at the thread's error queue and leaves it;
// OpenSSL knows GET, POST, HEAD, PUT and CONNECT by their first letters.
[[nodiscard]] bool was_plain_http() noexcept;

// The subject of the certificate that the peer has shown and that was verified, as RFC 2253 text
// ("CN=robot,O=Example"); "" without one.
[[nodiscard]] std::string peer_subject(SSL& ssl);

} // namespace stint::tls
