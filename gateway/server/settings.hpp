// Settings of downstream connections.
#pragma once

#include "base/http2_bounds.hpp"
#include "base/min_rate.hpp"
#include "base/time.hpp"
#include "net/buffer_pool.hpp"
#include "routing/client_address.hpp"
#include "routing/trusted_proxies.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

namespace stint::tls {
class Server;
} // namespace stint::tls

namespace stint::server {

// Settings of all connections of a Service. A reload may change them: open connections then follow
// the new ones from their next step on.
struct ConnectionSettings {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    Duration head_timeout{}; // longest time from a head's first byte to its last
    Duration idle_timeout{}; // longest time between two requests
    MinRate min_head_rate{};
    std::size_t max_head = 0;                   // bytes; a larger head is answered by 431
    std::size_t max_target = unlimited;         // bytes; a longer target is answered by 414
    std::size_t max_fields = 128;               // fields in a head; more are answered by 431
    std::size_t max_connections = 0;            // limit of the whole gateway
    std::size_t max_connections_per_client = 0; // 0 means no limit
    routing::AddressPrefixes prefixes{};        // networks counted as one client
    const routing::TrustedProxies* trusted =
        nullptr;                            // peers that may send PROXY headers; null: none
    net::BufferPool* head_blocks = nullptr; // Loop::head_blocks(max_head)
    // True: responses to pipelined requests are sent together, as long as their handlers do not
    // wait.
    bool batches_responses = false;
    bool websockets = false; // a route lets them through
    // The explanations sent with 431 and 414: string literals.
    std::string_view head_too_large = "the request's head is larger than max_head";
    std::string_view target_too_long = "the request's target is longer than max_target";
};

// The listener's options for a connection.
struct ListenerOptions {
    bool half_close_allowed = false;
    bool proxy_protocol = false; // connections begin with a PROXY header of a trusted peer
    // Port of https that all requests are redirected to (redirect_http); 0 means no redirect.
    std::uint16_t https_port = 0;
    std::shared_ptr<const tls::Server> tls{}; // nullptr: the listener does not speak TLS
    // Without TLS: a client may begin with the preface of HTTP/2.
    bool http2_prior_knowledge = false;
    Http2Bounds http2{};
    bool last_request = false; // after one response the connection ends
};

} // namespace stint::server
