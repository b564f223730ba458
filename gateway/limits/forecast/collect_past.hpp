// Reads what a limit counted in its last complete windows, from its record and from its counters.
#pragma once

#include "base/time.hpp"
#include "limits/counter/shards.hpp"
#include "limits/decision.hpp"
#include "limits/forecast/past_windows.hpp"

namespace stint::limits {

// Returns the windows of all keys with a counter of their own:
//  - Fixed windows: those that are over. Windows that are still open are not among them.
//  - Sliding windows: the last `per` of each key, and of a key that was idle since, the `per`
//  before
//    its last request.
//  - Token buckets and caps: the tokens owed, or the slots held, at `now`, as the window of a key.
// numbers: in force, by which a bucket's debt is read. per: a window's length. Locks one shard at a
// time; a window that ends meanwhile may be missing. Throws std::bad_alloc.
[[nodiscard]] Past
collect_past(const Shards& shards, const Numbers& numbers, Duration per, const Now& now);

} // namespace stint::limits
