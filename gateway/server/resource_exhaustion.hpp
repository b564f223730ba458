// Lack of descriptors or memory: noticed by one worker, relieved by all.
#pragma once

#include "base/error.hpp"
#include "base/once_a_second.hpp"

#include <atomic>
#include <cstdint>

namespace stint::server {

// True if the process, or the machine, lacks descriptors or memory for another socket.
[[nodiscard]] inline bool is_resource_exhaustion(const ErrorCode& error) noexcept {
    namespace errc = boost::system::errc;
    return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
           error == errc::not_enough_memory || error == errc::no_buffer_space;
}

// Shared by all workers. With every tick, each worker checks whether count() has grown, and then
// closes some idle connections (Context::close_idle_connections).
class ResourceExhaustion {
  public:
    // Records that no socket could be opened because of `error`. Logs this at most once a second.
    void note(const ErrorCode& error, SteadyTime now);
    [[nodiscard]] std::uint64_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> count_{0};
    OnceASecond log_;
};

} // namespace stint::server
