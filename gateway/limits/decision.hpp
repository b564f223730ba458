// Input and output of an admission: charges, the decision, the counters' states.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"

#include <cstddef>
#include <cstdint>

namespace stint::limits {

class Limit;

// The numbers that a configuration gives one key.
struct Numbers {
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // a token bucket's capacity; 0 = the quota

    friend bool operator==(const Numbers&, const Numbers&) = default;
};

// One limit that a request counts against. The numbers come from the configuration the request
// began with, the count from the limit.
struct Charge {
    Limit* limit = nullptr; // not null; outlives the call and the Permit that it leads to
    Hash128 key{};          // hash of the client's key; ignored by a limit without a key
    std::uint64_t quota = 0;
    std::uint64_t burst = 0; // a token bucket's capacity; 0 = the quota
    std::uint64_t cost = 1;  // this request's, at least 1; for a cap, slots
    bool enforce = true;     // false: never refuses; counts what it has room for
    bool pace =
        false; // spread the admissions evenly: after one of cost c none for c / quota of `per`
    bool refundable = false;         // the Permit can settle() and refund() it
    bool release_on_upgrade = false; // a cap's: Permit::release_early() frees the slot
    std::uint64_t reserved_for_others =
        0; // part of a fixed window's quota that is kept for others (reservations.hpp)
    // How late a waiter was woken after its counter had opened. A token bucket, or a paced sliding
    // window, counts the charge from the opening, so that it opens again in time.
    Duration late{};
};

enum class Refusal : std::uint8_t {
    none,
    window,     // the window's requests are used up
    pace,       // the window has more, but not yet
    cap,        // as many are in flight as may be
    cost,       // the request costs more than the limit ever has
    table_full, // there is no memory to count another key
};

// The state of one counter, for people and headers.
struct CounterState {
    std::uint64_t used = 0;      // in the open window; slots in use for a cap
    std::uint64_t remaining = 0; // how much more it would take now, pacing aside
    Duration resets_in{};        // until there is more; zero when nothing is used, and for a cap
};

// The outcome of one charge: its counter after the decision, and whether it refused.
struct ChargeState {
    CounterState counter;
    Refusal refusal = Refusal::none;
};

struct Decision {
    Refusal refusal = Refusal::none;
    std::size_t refused_by =
        0; // index into the charges: of those that refuse, the one to wait for longest
    Duration retry_after{};           // until that one admits again: for a cap an estimate (see
                                      // Limit), for Refusal::cost Duration::max()
    std::uint32_t refusing = 0;       // if refused: bit i = charge i refuses; zero where it
                                      // has waited
    std::uint32_t would_refuse = 0;   // if admitted: bit i = charge i, not enforced, was
                                      // not charged because it would have refused
    std::uint32_t overflow_began = 0; // bit i = the table of charge i's limit is full and new keys
                                      // are counted in its sketch; told once a minute
    Permit permit;                    // holds the caps' slots; empty when refused

    [[nodiscard]] bool allowed() const noexcept { return refusal == Refusal::none; }
};

} // namespace stint::limits
