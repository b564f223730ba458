// The settings of one store of shared limits.
#pragma once

#include "base/time.hpp"
#include "redis/host_port.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stint::tls {
class Client;
} // namespace stint::tls

namespace stint::stores {

// Sentinels that know which of several servers is the primary.
struct StoreSentinels {
    std::string master = {};                     // the name of the servers there: "mymaster"
    std::vector<redis::HostPort> servers = {};   // the Sentinels; not empty
    std::shared_ptr<const tls::Client> tls = {}; // null: without TLS
    std::string server_name = {}; // that their certificates must be for; empty: the host
    std::string user = {};
    std::string password = {};

    friend bool operator==(const StoreSentinels&, const StoreSentinels&) = default;
};

struct StoreSettings {
    std::string name = {}; // "main"
    // If any, they name the server, instead of `host` and `port`.
    std::optional<StoreSentinels> sentinels = {};
    // Nodes of a Cluster. If any, they name the server, instead of `host` and `port`.
    std::vector<redis::HostPort> cluster = {};
    std::string host = "127.0.0.1"; // a name, or an address without brackets
    std::uint16_t port = 6379;
    std::shared_ptr<const tls::Client> tls = {}; // null: without TLS
    std::string server_name = {}; // that the certificate must be for; empty: the host
    std::string user = {};        // empty: the server's default user
    std::string password = {};    // empty: no login
    std::string prefix = "stint"; // of all keys in the store; without braces
    // How long a request waits for an answer. A call of the store itself is given up after
    // call_timeout().
    Duration timeout = std::chrono::milliseconds{20};
    // A gateway that was silent for so long is dead for the others. The same in all gateways; at
    // least 500 ms; 5 s with Sentinel or Cluster.
    Duration time_to_live = std::chrono::seconds{30};
    // Unique to the gateway, the same over its restarts; not empty, no space, no colon.
    std::string gateway = {};
    // The names of counters in the store tell nothing of clients' keys to whom does not know it.
    // The same in all gateways; empty: the prefix.
    std::string secret = {};
    // For servers that do not tell their eviction policy: it is noeviction.
    bool assume_noeviction = false;

    friend bool operator==(const StoreSettings&, const StoreSettings&) = default;

    [[nodiscard]] Duration call_timeout() const noexcept {
        const Duration usual = std::max<Duration>(std::chrono::seconds{1}, 10 * timeout);
        return std::min(usual, time_to_live);
    }
};

} // namespace stint::stores
