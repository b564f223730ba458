// Descriptors or memory have run out: noticed by one worker, relieved by all.
#pragma once

#include "base/error.hpp"
#include "base/once_a_second.hpp"

#include <atomic>
#include <cstdint>

namespace stint::proxy {

// Whether the process, or the machine, lacks descriptors or memory for another socket.
[[nodiscard]] inline bool is_resource_exhaustion(const ErrorCode& error) noexcept {
    namespace errc = boost::system::errc;
    return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
           error == errc::not_enough_memory || error == errc::no_buffer_space;
}

// Shared by all workers. Each looks at count() with its ticks, and closes some of what is idle when
// there was another failure since the last look (Context::make_room).
class ResourceExhaustion {
  public:
    // A socket could not be had because of `error`; says so in the log, once a second at most.
    void note(const ErrorCode& error, SteadyTime now);
    [[nodiscard]] std::uint64_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> count_{0};
    OnceASecond log_;
};

} // namespace stint::proxy
