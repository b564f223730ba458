// The script that the store of shared limits runs for each call: all decisions about who holds
// which part of a limit are made in it, one at a time.
#pragma once

#include <string>

namespace stint::shared {

// Lua 5.1, for EVAL and EVALSHA of Redis 7 and Valkey. It touches its keys only, which have one
// hash slot, and reads TIME and INFO replication. Times are in milliseconds.
//
// KEYS[1]: the registry of sessions. KEYS[2]: of sync, the shares of one counter; of pause and
// pauses, the pauses of cool-downs.
// ARGV: see Call in session.hpp, which makes them. Replies are arrays whose first element is
//   ok       the call was made
//   epoch    the call belongs to another epoch: beat first
//   unknown  the store does not know the session: beat first
//   dead     the session was too long silent: begin a new one
//   taken    another session of the same gateway lives
//   protocol gateways of another version of Stint live, which keep their shares in another form:
//            with the number of their form, and of this one
// in_cluster: the server is a node of a Cluster.
[[nodiscard]] std::string store_script(bool in_cluster = false);

} // namespace stint::shared
