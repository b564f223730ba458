// TLS for a test's raw end of a connection, on its descriptor.
#pragma once

#include "tls/ssl.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace stint::tls {
class Client;
class Server;
} // namespace stint::tls

namespace stint::test {

// What all tests of this process use: a certificate for 127.0.0.1, and who believes it.
[[nodiscard]] std::shared_ptr<const tls::Server> tls_server();
[[nodiscard]] std::shared_ptr<const tls::Client> tls_client();
[[nodiscard]] const std::string& tls_authority(); // its PEM file

// Whether tests that play plain connections play them over TLS this time (STINT_TEST_TLS=1).
[[nodiscard]] bool over_tls() noexcept;
// True if clients of the wire rows speak HTTP/2 (STINT_TEST_HTTP2=1).
[[nodiscard]] bool over_http2() noexcept;

// As the calls on a socket that they stand for; the handshake is a part of the first of them.
class TlsEnd {
  public:
    TlsEnd(tls::SslPtr ssl, int descriptor);

    void offer_http2();               // instead of HTTP/1.1, before the handshake
    [[nodiscard]] bool shake_hands(); // whether it is complete
    [[nodiscard]] std::ptrdiff_t read(char* into, std::size_t); // -1 and EAGAIN, or another errno
    [[nodiscard]] std::ptrdiff_t write(std::string_view bytes);
    void send_close_notify();

  private:
    [[nodiscard]] std::ptrdiff_t failed(int result);

    tls::SslPtr ssl_;
};

} // namespace stint::test
