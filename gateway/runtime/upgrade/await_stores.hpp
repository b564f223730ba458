// Waits for the stores of shared limits before a process takes over.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "config/schema/schema.hpp"
#include "runtime/compile.hpp"
#include "runtime/shared_stores.hpp"

#include <functional>
#include <string>

namespace stint::runtime {

// How long to wait for stores.
struct StoreWaits {
    Duration most{};
    Duration if_down{}; // for one whose server does not answer, or cannot be used
};

// Waits until all stores give shares of the limits of `compiled`. A new session has none until all
// gateways know of it, or those that have ended without a word are given up. Logs what it waits
// for. Blocks, until `given_up` at most. Requires: the stores of `config` have been started. The
// error, in words: one gives none, and why.
[[nodiscard]] Result<void, std::string> await_stores(
    const config::Config& config,
    const Compiled& compiled,
    const SharedStores& stores,
    StoreWaits waits,
    const std::function<bool()>& given_up);

} // namespace stint::runtime
