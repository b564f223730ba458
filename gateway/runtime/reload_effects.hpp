// The effects of a reload on counters and on other state. Pure.
#pragma once

#include "config/schema/schema.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

// The names of limits, locks included (base/lock_names.hpp), in the order of the configuration.
struct CounterEffects {
    std::vector<std::string> kept;
    std::vector<std::string> begin_anew; // in both configurations, with another identity_of()
    std::vector<std::string> ended;      // not in the next configuration

    // Returns the limits of the former configuration that a reload ends: those that begin anew, and
    // those that are not in the next one.
    [[nodiscard]] std::vector<std::string> forgotten() const;
};

// Returns what a reload from `former`, which is in force, to `next` does to the counters of limits.
[[nodiscard]] CounterEffects
counter_effects(const config::Config& former, const config::Config& next);

// Returns a line for each limit whose counts a reload to `next` would reset, and for each changed
// setting that needs a restart. counters: counter_effects() of both.
[[nodiscard]] std::vector<std::string> reload_notes(
    const config::Config& former, const config::Config& next, const CounterEffects& counters);

struct PartEffects {
    std::vector<std::string> added;
    std::vector<std::string> removed;
    std::vector<std::string> changed;
};

// The effects of a reload on the parts that have a state of their own. A limit that becomes a cap
// is removed, and a cap is added.
struct ReloadEffects {
    CounterEffects counters;
    PartEffects limits; // without caps and locks
    PartEffects caps;
    PartEffects locks; // by their names, without the prefix of their limits
    // Sets of pauses: "upstream:NAME host", "route:NAME route", "… key:KEY". A cool-down that
    // counts by something else is removed, with its pauses, and another one is added.
    PartEffects cooldowns;
    PartEffects endpoints; // "UPSTREAM ADDRESS"; the state of those that stay is kept
};

[[nodiscard]] ReloadEffects
reload_effects(const config::Config& former, const config::Config& next);

} // namespace stint::runtime
