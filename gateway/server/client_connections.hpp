// Counts the open connections of each client over all workers, for max_connections_per_client. A
// client is identified by the hash of its network only.
#pragma once

#include "base/hash.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace stint::server {

// A client is counted only while it has connections. Thread-safe: every function takes one short
// lock, that of the client's shard.
class ClientConnections {
    struct ByLowBits {
        std::size_t operator()(const Hash128& client) const noexcept { return client.low; }
    };
    using Counts = std::unordered_map<Hash128, std::size_t, ByLowBits>;
    struct alignas(64) Shard {
        std::mutex mutex;
        Counts open;
    };

  public:
    // The connection slot of one connection; destroying it gives it back. Empty when default-made,
    // moved from or refused. Must not outlive the table; any thread may destroy it.
    class Slot {
      public:
        Slot() = default;

        explicit operator bool() const noexcept { return entry_ != nullptr; }

      private:
        friend class ClientConnections;
        struct Leave {
            Shard* shard;
            void operator()(Counts::value_type* entry) const noexcept;
        };
        Slot(Shard& shard, Counts::value_type& entry) : entry_{&entry, Leave{&shard}} {}

        std::unique_ptr<Counts::value_type, Leave> entry_;
    };

    // Returns a slot for one more connection of the client; an empty one if it has `most` (at least
    // 1) already. Throws std::bad_alloc, and then counts nothing.
    [[nodiscard]] Slot enter(const Hash128& client, std::size_t most);

    // Returns the number of clients that have connections.
    [[nodiscard]] std::size_t clients() const noexcept;

  private:
    mutable std::array<Shard, 16> shards_;
};

} // namespace stint::server
