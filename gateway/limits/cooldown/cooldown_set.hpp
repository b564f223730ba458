// The cool-downs of one route or upstream: one for all its requests, or one for each host or key.
#pragma once

#include "base/hash.hpp"
#include "base/live_objects.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "limits/cooldown/pause_exchange.hpp"

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::limits {

// A set's identity across reloads.
struct CooldownIdentity {
    std::string owner; // "upstream:NAME" or "route:NAME"
    std::string scope; // "route", "host", or "key:" and the key's canonical text

    friend auto operator<=>(const CooldownIdentity&, const CooldownIdentity&) = default;
};

// The cool-downs of one owner, by key. Holds at most `most`: at that size, cool-downs that are open
// and unused for a minute are forgotten, and further keys share a single one. Threads: any.
class CooldownSet {
  public:
    static constexpr std::size_t most = 10'000;

    explicit CooldownSet(CooldownIdentity identity) : identity_{std::move(identity)} {}

    [[nodiscard]] const CooldownIdentity& identity() const noexcept { return identity_; }

    // Returns the cool-down of this key. text: the key in readable form, of which 256 bytes are
    // kept.
    [[nodiscard]] CooldownPtr of(const Hash128& key, std::string_view text, SteadyTime now);

    // Tells pauses by this exchange from now on, and learns of others'; nullptr: each gateway has
    // its own. Cool-downs that are known join it, too; the one that keys share in a full set does
    // not.
    void share_by(const PauseExchangePtr& exchange, SteadyTime now);
    // True if gateways share the pauses.
    [[nodiscard]] bool is_shared() const;

    // Like of(), but makes no cool-down: nullptr if the key has none. Returns the shared cool-down
    // if the set is full, even where of() would drop idle ones to make room for the key.
    [[nodiscard]] CooldownPtr find(const Hash128& key) const;

    // Returns all cool-downs, in no particular order. CooldownState::of of each is valid while its
    // pointer is held.
    [[nodiscard]] std::vector<CooldownPtr> all() const;

    // Returns those that keys have of their own, with these keys.
    [[nodiscard]] std::vector<std::pair<Hash128, CooldownPtr>> by_key() const;

    // Sums over all cool-downs; those marked "ever" include forgotten ones.
    struct Totals {
        std::uint64_t closed = 0;  // paused, or waiting for a probe's answer
        std::uint64_t pauses = 0;  // ever
        std::uint64_t refused = 0; // ever
        std::uint64_t waiting = 0; // requests that wait for a scope to open
    };
    [[nodiscard]] Totals totals(SteadyTime now) const;

  private:
    [[nodiscard]] bool is_full() const noexcept { return known_.size() >= most; }
    struct Scope {
        CooldownPtr cooldown;
        Hash128 digest{}; // digest_of() the key's text
    };

    void forget_idle(SteadyTime now);
    void join(const Scope& scope, const PauseExchangePtr& exchange, SteadyTime now) const;

    const CooldownIdentity identity_;
    mutable std::mutex mutex_;
    std::map<Hash128, Scope> known_;
    PauseExchangePtr exchange_; // null: gateways do not share the pauses
    CooldownPtr shared_;        // for keys that found the set full
    SteadyTime next_look_{};
    Totals forgotten_;
};

using CooldownSetPtr = std::shared_ptr<CooldownSet>;

// The registry of all live sets by identity, which keeps pauses across reloads. Thread-safe.
class CooldownRegistry {
  public:
    [[nodiscard]] CooldownSetPtr obtain(const CooldownIdentity& identity);
    // Returns all live sets.
    [[nodiscard]] std::vector<CooldownSetPtr> alive() const;

  private:
    mutable std::mutex mutex_;
    LiveObjects<CooldownIdentity, CooldownSet> known_;
};

} // namespace stint::limits
