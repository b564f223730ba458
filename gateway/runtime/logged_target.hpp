// The target of an operator's change as the operational log shows it. Pure.
#pragma once

#include "base/hash.hpp"
#include "base/log_rules.hpp"
#include "runtime/compile.hpp"
#include "runtime/limit_changes.hpp"

#include <string>

namespace stint::runtime {

// Returns the limit and the change: "limit l: a block of the key \"9c1185a5c5e9fc54\"". The key is
// shown as the access log shows it; patterns, and keys that are not to be shown, are left out.
[[nodiscard]] std::string logged_target(
    const LimitChange::Target& target,
    const Compiled& compiled,
    const KeyHasher& hasher,
    LogKey as);

} // namespace stint::runtime
