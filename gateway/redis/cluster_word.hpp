// The answers of a node of a Redis Cluster about a hash slot. Pure: no I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "redis/host_port.hpp"
#include "redis/resp/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

// Returns the hash slot of a key: of what stands between its first { and the next }, if there is
// anything, else of the whole key (Redis Cluster Specification, "Key distribution model").
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

struct ClusterNode {
    std::string id = {};
    HostPort address = {};

    friend bool operator==(const ClusterNode&, const ClusterNode&) = default;
};

// The answer of a node of the Cluster.
struct ClusterWord {
    std::string id = {};                     // the node's own
    std::vector<ClusterNode> primaries = {}; // that own slots, by id
    std::string view = {};                   // the ids of `primaries`
    std::string owner = {};                  // the id of the one that owns the slot
    // Where this node sends calls about a key that the slot may have, but that it has not itself:
    // it is handing the slot over.
    std::optional<HostPort> asks = {};
    Duration down_after = {}; // how long a node is silent before it counts as down; zero: unknown

    // Returns the primary with this id; null: there is none.
    [[nodiscard]] const ClusterNode* primary(std::string_view of) const noexcept;
};

// Reads a reply to CLUSTER SLOTS. asked: the node that has sent it. Returns why it is of no use;
// empty: it is.
[[nodiscard]] std::string
read_slots(const Value& reply, std::uint16_t slot, const HostPort& asked, ClusterWord& word);

// Reads a reply to a command about a key of the slot: "ASK 3999 127.0.0.1:6381" sets `asks`, any
// other one clears it. asked: as for read_slots().
void read_asks(const Value& reply, const HostPort& asked, ClusterWord& word);

} // namespace stint::redis
