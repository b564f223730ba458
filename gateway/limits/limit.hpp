// The state behind one limit: its counters, shared by every worker, kept across reloads.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace stint::limits {

// The state of one counter, for people and headers.
struct CounterState {
    std::uint64_t used = 0;   // of the open window; in flight for a cap
    Duration resets_in{};     // until the open window ends; zero when none is open or for a cap
};

class Limit {
  public:
    explicit Limit(const LimitSpec& spec);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

    [[nodiscard]] const LimitIdentity& identity() const noexcept;
    // Rises with every Limit made in this process. Charges are given to admit() in rising order:
    // that is the order in which the shards are locked.
    [[nodiscard]] std::uint64_t ordinal() const noexcept;
    [[nodiscard]] bool keyed() const noexcept { return !identity().key.empty(); }

    // Takes effect for the next new key. Thread-safe.
    void set_max_keys(std::uint64_t max_keys) noexcept;

    // Live state, each thread-safe; the scans lock one shard at a time.
    [[nodiscard]] CounterState state_of(Hash128 key, const Now& now) const; // key ignored if !keyed()
    [[nodiscard]] std::uint64_t live_keys(const Now& now) const;
    [[nodiscard]] std::uint64_t in_flight() const;     // summed over the keys of a cap, else 0
    [[nodiscard]] std::uint64_t refused() const noexcept;    // admissions this limit refused, ever
    [[nodiscard]] std::uint64_t table_full() const noexcept; // of those, for want of room

  private:
    friend class Admission;
    friend class Permit;
    struct Impl; // or members: the implementer's choice
    std::unique_ptr<Impl> impl_;
};

using LimitPtr = std::shared_ptr<Limit>;

// Charges every limit or none: if one refuses, no window is charged and no slot taken.
// Requires: charges in strictly rising order of limit->ordinal(), at most max_charges of them.
// Threads: any; exact under any interleaving. No I/O, no clock; the time under the locks is arithmetic.
inline constexpr std::size_t max_charges = 16;
[[nodiscard]] Decision admit(std::span<const Charge> charges, const Now& now);

} // namespace stint::limits
