#include "server/resource_exhaustion.hpp"

#include <spdlog/spdlog.h>

namespace stint::server {

void ResourceExhaustion::note(const ErrorCode& error, SteadyTime now) {
    const std::uint64_t before = count_.fetch_add(1, std::memory_order_relaxed);
    if (log_.pass(now))
        spdlog::warn(
            "no socket for another connection ({}, failure {} since the start): idle ones are "
            "closed to make room",
            error.message(), before + 1);
}

} // namespace stint::server
