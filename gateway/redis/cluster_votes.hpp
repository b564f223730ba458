// Which node of a Cluster owns a hash slot, by the words of the Cluster's primaries. Pure: no I/O,
// no clock.
#pragma once

#include "base/time.hpp"
#include "redis/cluster_word.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stint::redis {

// Each primary votes, but for the one that is voted on. A replica is promoted by the votes of a
// majority of the primaries, each of which goes over to it for good. Words count together only if
// they name the same primaries: so a primary that was replaced itself, and does not know it, has no
// vote among those who know. Therefore no majority names the former owner of a slot once one has
// named the new one. It might, if nodes took places without being voted for (CLUSTER FAILOVER
// TAKEOVER), or if a partition began in the very moment of two elections and separated voters from
// what they voted for.
class ClusterVotes {
  public:
    // Notes what the node at this address said to questions that were sent from `asked` on.
    void note(const HostPort& node, ClusterWord word, SteadyTime asked);
    // Returns its latest word; null: none yet.
    [[nodiscard]] const ClusterWord* word(const HostPort& node) const;
    void forget(const HostPort& node);

    struct Owner {
        ClusterNode node = {};
        // While it hands the slot over, and has the registry no more: where it says that is.
        std::optional<HostPort> asks = {};
    };
    // Returns the owner of the slot that a majority names, by questions that were sent at `since`
    // or later. The majority is of all primaries. Of two primaries the other one is enough, and a
    // single one speaks for itself: neither kind of Cluster promotes a replica by itself. Nothing
    // if words of different views both have a majority.
    [[nodiscard]] std::optional<Owner> owner(SteadyTime since) const;
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
    // The latest result of owner(), which holds for later times up to `until`.
    struct Known {
        std::optional<Owner> owner = {};
        SteadyTime since = SteadyTime::max();
        SteadyTime until = SteadyTime::min();
    };

    // The latest word of each primary.
    [[nodiscard]] std::vector<const ClusterWord*> words_since(SteadyTime since) const;
    [[nodiscard]] std::optional<Owner> count_votes(SteadyTime since) const;

    std::map<std::string, Noted> words_; // by address
    mutable Known known_;
};

} // namespace stint::redis
