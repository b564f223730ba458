// The key sources of a limit, and the sources that a request may lack.
#pragma once

#include "config/schema/schema.hpp"

#include <vector>

namespace stint::config {

// Returns the sources of all keys of a limit: the key of its counters (`key`), of its fair queue
// (`fair_by`) and of its reserved slots (`reserve_for`).
[[nodiscard]] inline std::vector<KeySource> key_sources(const Limit& limit) {
    std::vector<KeySource> all = limit.key;
    all.insert(all.end(), limit.reserve_for.begin(), limit.reserve_for.end());
    if (limit.wait)
        all.insert(all.end(), limit.wait->fair_by.begin(), limit.wait->fair_by.end());
    return all;
}

// Returns true if a request may lack this source (for example a header), false if every request has
// it (for example the path).
[[nodiscard]] constexpr bool may_be_missing(const KeySource& source) noexcept {
    using Kind = KeySource::Kind;
    return source.kind != Kind::path && source.kind != Kind::method && source.kind != Kind::route &&
           source.kind != Kind::permit_key;
}

} // namespace stint::config
