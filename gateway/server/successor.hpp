// The process that replaces this one, as connections know it: it takes connections over.
#pragma once

#include "base/descriptor.hpp"
#include "base/ip_address.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <string>

namespace stint::server {

// A connection between two requests, or with a request about which nothing was decided.
struct HandedConnection {
    Descriptor socket;    // without TLS
    IpAddress client;     // empty: the peer of a Unix socket
    std::string received; // bytes that were received and not answered
    bool permits = false; // the listener is that for permits
    // The listener's options, as in ListenerOptions.
    bool half_close_allowed = false;
    std::uint16_t https_port = 0;
    // The client speaks TLS with the former process, which relays the bytes.
    bool secure = false;
    std::string tls_subject; // as in ConnectionInfo
    std::string tls_version;
    bool last = false; // one request may be answered, then the connection ends
    // When the first request began to wait, by this machine's steady clock; the epoch: it did not.
    SteadyTime waiting_since{};
};

// Thread-safe.
class Successor {
  public:
    // Hands a connection over. If the other process has gone, the connection is closed.
    virtual void take(HandedConnection connection) noexcept = 0;

  protected:
    ~Successor() = default;
};

} // namespace stint::server
