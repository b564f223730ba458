// Which server is the primary by the words of several Sentinels. Pure: no I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "redis/host_port.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stint::redis {

// The answer of a Sentinel.
struct SentinelWord {
    std::string id = {};      // the Sentinel's own
    HostPort primary = {};    // the server that it holds for the primary
    std::uint64_t others = 0; // how many other Sentinels it knows
    Duration down_after = {}; // how long a primary is silent before it counts as down
};

// A Sentinel never goes back to a primary that it has given up for another one, but by a further
// switch. Two majorities have one in common. So once a majority names a new primary, no majority
// names the former one, whatever the servers and the others still believe.
class SentinelVotes {
  public:
    // listed: how many Sentinels are asked.
    explicit SentinelVotes(std::size_t listed) : words_(listed) {}

    // Notes what the Sentinel with this number said to a question that was sent at `asked`.
    void note(std::size_t sentinel, SentinelWord word, SteadyTime asked);
    // Returns its latest word; null: none yet.
    [[nodiscard]] const SentinelWord* word(std::size_t sentinel) const noexcept;

    // Returns the server that a majority names, by questions that were sent at `since` or later.
    // The majority is of all Sentinels that are listed, or known to those that have answered if
    // these are more. One that is listed twice counts once.
    [[nodiscard]] std::optional<HostPort> primary(SteadyTime since) const;
    // Returns how many Sentinels there are, and how many of them have answered.
    [[nodiscard]] std::size_t count(SteadyTime since) const noexcept;
    [[nodiscard]] std::size_t answered(SteadyTime since) const;

  private:
    struct Noted {
        std::optional<SentinelWord> word = {};
        SteadyTime asked = {};
    };

    // The latest words, one for each Sentinel.
    [[nodiscard]] std::vector<const SentinelWord*> words_since(SteadyTime since) const;

    std::vector<Noted> words_;
};

} // namespace stint::redis
