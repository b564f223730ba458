// Internal to StoreLoop: one turn of its event loop.
#pragma once

#include "net/clock.hpp"
#include "stores/store_loop.hpp"

#include <spdlog/spdlog.h>

#include <exception>

namespace stint::stores {

// Calls function(now), then does what follows from it. What is not done for want of memory is done
// later: calls are given up and made again.
template <class Function>
void StoreLoop::turn(Function function) noexcept {
    const Now now = net::read_clocks();
    try {
        function(now);
        go_on(now);
    } catch (const std::exception& error) {
        if (refusals_.pass(now.steady))
            spdlog::error("store {}: {}", shared_.settings.name, error.what());
        try_later(now.steady);
    }
}

} // namespace stint::stores
