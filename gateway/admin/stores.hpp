// The stores in which gateways divide limits, for operators.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "runtime/shared_stores.hpp"

#include <string>

namespace stint::runtime {
class Gateway;
} // namespace stint::runtime

namespace stint::admin {

// Returns an entry for each store: its server, this gateway's session, its calls.
[[nodiscard]] Json stores_json(const runtime::SharedStores& stores, SteadyTime now);
// Returns a word for each store, by name: "ready", "unfit", "down", "unconfirmed" (no majority of
// those that are asked names its server), or the state of the session.
[[nodiscard]] Json store_words(const runtime::SharedStores& stores);
// Makes a store give shares at once, because the operator knows that no other gateway holds any.
[[nodiscard]] Response trust_store(const runtime::Gateway& gateway, const std::string& name);

} // namespace stint::admin
