// The part of the configuration about stores: servers where gateways divide their limits.
#pragma once

#include "config/schema/schema_tls.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::config {

struct StoreServer {
    std::string host; // an IP address (IPv6 without brackets) or a host name
    std::uint16_t port = 0;
    std::string text; // as configured
};

// Sentinels that name a store's server.
struct StoreSentinel {
    std::string master;
    std::vector<StoreServer> servers{};
    std::string username{};      // empty = the Sentinels' default user
    std::string password_file{}; // as Store's
    std::optional<UpstreamTls> tls{};
};

struct Store {
    std::string name;
    // One of the three:
    StoreServer redis{};
    std::optional<StoreSentinel> sentinel{};
    std::vector<StoreServer> cluster{}; // some of its nodes
    std::optional<UpstreamTls> tls{};
    std::string username{};       // empty = the server's default user
    std::string password_file{};  // absolute, or relative to the working folder; empty = none
    std::string prefix = "stint"; // beginning of all key names that Stint uses in the store
    std::string secret_file{};    // secret for the hashes of clients' keys; path as password_file
    std::chrono::milliseconds timeout{20};
    std::chrono::milliseconds session{30'000};
    // True: the server's eviction policy is noeviction, although it forbids CONFIG to ask for it.
    bool assumes_noeviction = false;
};

// The store of a limit that gateways share.
struct SharedLimit {
    enum class OnStoreFailure : std::uint8_t { share, open, closed };
    std::size_t store = 0; // index into Config::stores
    OnStoreFailure on_store_failure = OnStoreFailure::share;
};

} // namespace stint::config
