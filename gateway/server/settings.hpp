// Settings of downstream connections.
#pragma once

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

// Settings of all connections of a Service, as a reload sets them: connections that are open follow
// them from their next step on.
struct ConnectionSettings {
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    Duration head_timeout{}; // from the first byte of a head to its last
    Duration idle_timeout{}; // between two requests
    MinRate min_head_rate{};
    std::size_t max_head = 0;                   // bytes; else 431
    std::size_t max_target = unlimited;         // bytes; else 414
    std::size_t max_fields = 128;               // in a head; else 431
    std::size_t max_connections = 0;            // in all, over the gateway
    std::size_t max_connections_per_client = 0; // 0: any number
    routing::AddressPrefixes prefixes{};        // by which clients are counted there
    const routing::TrustedProxies* trusted =
        nullptr;                            // peers that may send PROXY headers; null: none
    net::BufferPool* head_blocks = nullptr; // Loop::head_blocks(max_head)
    // Responses to pipelined requests go out together, where their handlers do not suspend.
    bool batches_responses = false;
    // The explanations of 431 and 414: literals.
    std::string_view head_too_large = "the request's head is larger than max_head";
    std::string_view target_too_long = "the request's target is longer than max_target";
};

// The listener's options for a connection.
struct ListenerOptions {
    bool half_close_allowed = false;
    bool proxy_protocol = false; // it begins with a PROXY header, which a trusted peer may send
    // Redirect_http: port that all its requests are redirected to; 0: none.
    std::uint16_t https_port = 0;
    std::shared_ptr<const tls::Server> tls{}; // nullptr: plain
};

} // namespace stint::server
