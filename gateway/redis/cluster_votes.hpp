// Which node of a Cluster owns a hash slot, by the words of the Cluster's primaries. Pure: no I/O,
// no clock.
#pragma once

#include "base/time.hpp"
#include "redis/host_port.hpp"
#include "redis/resp/value.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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
    std::string owner = {};                  // the id of the one that owns the slot
    Duration down_after = {}; // how long a node is silent before it counts as down; zero: unknown

    // Returns the primary with this id; null: there is none.
    [[nodiscard]] const ClusterNode* primary(std::string_view of) const noexcept;
};

// Reads a reply to CLUSTER SLOTS. asked: the node that has sent it. Returns why it is of no use;
// empty: it is.
[[nodiscard]] std::string
read_slots(const Value& reply, std::uint16_t slot, const HostPort& asked, ClusterWord& word);

// Each primary votes, but for the one that is voted on. A replica is promoted by the votes of a
// majority of the primaries, each of which goes over to it for good. Words count together only if
// they name the same primaries: so a primary that was replaced itself, and does not know it, has no
// vote among those who know. Therefore no majority names the former owner of a slot once one has
// named the new one, unless a partition begins in the very moment of an election, and separates
// those that have voted from what they voted for.
class ClusterVotes {
  public:
    // Notes what the node at this address said to a question that was sent at `asked`.
    void note(const HostPort& node, ClusterWord word, SteadyTime asked);
    // Returns its latest word; null: none yet.
    [[nodiscard]] const ClusterWord* word(const HostPort& node) const;
    void forget(const HostPort& node);

    // Returns the owner of the slot that a majority names, by questions that were sent at `since`
    // or later. The majority is of all primaries. Of two primaries the other one is enough, and a
    // single one speaks for itself: neither kind of Cluster promotes a replica by itself.
    [[nodiscard]] std::optional<HostPort> owner(SteadyTime since) const;
    // Returns how many primaries there are, and how many of them have answered.
    [[nodiscard]] std::size_t count(SteadyTime since) const;
    [[nodiscard]] std::size_t answered(SteadyTime since) const;
    // Returns the primaries' addresses by all of these words.
    [[nodiscard]] std::vector<HostPort> primaries(SteadyTime since) const;

  private:
    struct Noted {
        ClusterWord word = {};
        SteadyTime asked = {};
    };

    // The latest word of each primary.
    [[nodiscard]] std::vector<const ClusterWord*> words_since(SteadyTime since) const;

    std::map<std::string, Noted> words_; // by address
};

} // namespace stint::redis
