// The report of stint check --diff.
#pragma once

#include "check/source.hpp"
#include "config/schema/schema.hpp"

#include <iosfwd>

namespace stint::check {

// A configuration, and the text that it was loaded from.
struct Loaded {
    const Source& source;
    const config::Config& config;
};

// Writes what a reload of `former` to `next` would change: a line for each key with its place, in
// `former` if it is removed; then the parts with a state of their own, and what becomes of the
// counters. Returns false, and says so, if there is no difference.
bool write_diff(const Loaded& former, const Loaded& next, std::ostream& out);

} // namespace stint::check
