// One end of TLS without a socket: its records are in the hands of the test, which says what of
// them is sent, and when.
#pragma once

#include "tls/ssl.hpp"

#include <string>
#include <string_view>

namespace stint::test {

class SealedEnd {
  public:
    explicit SealedEnd(tls::SslPtr ssl);

    // Takes what the peer has sent, and returns what is to be sent to it: parts of the handshake.
    // Without bytes: how a client begins.
    [[nodiscard]] std::string take(std::string_view bytes = {});

    // One record. To be sent in the order in which they were made, and none left out.
    [[nodiscard]] std::string seal(std::string_view text);
    [[nodiscard]] std::string seal_end(); // close_notify

    [[nodiscard]] bool complete() const; // the handshake
    [[nodiscard]] bool ended() const;    // the peer has said its end

    std::string text; // what the peer has said

  private:
    [[nodiscard]] std::string said();

    tls::SslPtr ssl_;
};

} // namespace stint::test
