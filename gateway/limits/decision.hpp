// Input and output of an admission: charges, the decision, the counters' states.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"

#include <cstddef>
#include <cstdint>

namespace stint::limits {

class Limit;

// The quota and the burst that a configuration gives to one key.
struct Numbers {
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // a token bucket's capacity; 0 = the quota

    friend bool operator==(const Numbers&, const Numbers&) = default;
};

// A request's charge on one limit. Quota and burst come from the configuration that the request
// began with; the count is in the limit.
struct Charge {
    Limit* limit = nullptr; // not null; outlives the call and the Permit that results
    Hash128 key{};          // hash of the client's key; ignored by a limit without a key
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // a token bucket's capacity; 0 = the quota
    std::uint64_t cost = 1;  // the cost of the request, at least 1; for a cap, slots
    bool enforce = true;     // false: dry run, never refuses; charged if there is room
    bool pace = false;       // spread evenly: after a cost c the next goes c / quota of `per` later
    bool refundable = false; // the Permit can settle() and refund() it
    bool ignore_share = false;       // the limit's own numbers count, whatever the key's share
    bool release_on_upgrade = false; // for a cap: Permit::release_early() frees the slot
    // The part of a fixed window's quota that is withheld for others (reservations.hpp,
    // fair_shares.hpp).
    std::uint64_t reserved_for_others = 0;
    // For a queued request: the time from the instant at which its counter could admit it to its
    // admission. A token bucket, or a paced sliding window, counts the charge from that instant, so
    // that a late admission does not delay the next one.
    Duration late{};
};

enum class Refusal : std::uint8_t {
    none,
    window,     // the window's quota is used up
    pace,       // the window has room, but pacing delays the request
    cap,        // the most requests are in flight
    cost,       // the request costs more than the limit ever admits
    table_full, // there is no memory to count another key
};

// The state of one counter, for people and headers.
struct CounterState {
    std::uint64_t used = 0;      // cost counted in the open window; for a cap, slots in use
    std::uint64_t remaining = 0; // cost that the counter would admit now, pacing aside
    Duration resets_in{}; // until `remaining` rises; zero when nothing is used, and for a cap
};

// The outcome of one charge: its counter after the decision, and whether it refused.
struct ChargeState {
    CounterState counter;
    Refusal refusal = Refusal::none;
};

struct Decision {
    Refusal refusal = Refusal::none;
    std::size_t refused_by = 0; // index of the refusing charge with the longest wait
    Duration retry_after{}; // until charge `refused_by` admits again; for a cap an estimate (see
                            // Limit); Duration::max() for Refusal::cost
    std::uint32_t refusing = 0; // if refused: bit i = charge i refuses; zero after a queue wait
    // Bit i = charge i, enforced or not, was refused because its share is less than the limit's own
    // numbers; for bits of ask_store, the store of shares may have more.
    std::uint32_t lacks_share = 0;
    std::uint32_t ask_store = 0;
    std::uint32_t would_refuse = 0;   // if admitted: bit i = charge i, not enforced, was
                                      // not charged because it would have refused
    std::uint32_t overflow_began = 0; // bit i = the table of charge i's limit is full and new keys
                                      // are counted in its sketch; set once a minute
    Permit permit;                    // holds the caps' slots; empty when refused

    [[nodiscard]] bool allowed() const noexcept { return refusal == Refusal::none; }
};

} // namespace stint::limits
