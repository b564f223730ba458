// A worker's connection slot, held from the choice of that worker until the connection has ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace stint::server {

struct ReleaseConnectionSlot {
    void operator()(std::atomic<std::size_t>* taken) const noexcept {
        taken->fetch_sub(1, std::memory_order_relaxed);
    }
};

// Counts one connection in the Loop::worker_load that it points to, as long as it is held. May move
// from thread to thread.
using ConnectionSlot = std::unique_ptr<std::atomic<std::size_t>, ReleaseConnectionSlot>;

[[nodiscard]] inline ConnectionSlot
acquire_connection_slot(std::atomic<std::size_t>& taken) noexcept {
    taken.fetch_add(1, std::memory_order_relaxed);
    return ConnectionSlot{&taken};
}

} // namespace stint::server
