// The clock of those who wait before limits, and of leases: calls WaitingRoom::open() at the very
// instant of each opening, and Book::expire() at that of each end, from a thread of its own.
#pragma once

#include "base/time.hpp"
#include "limits/registry.hpp"
#include "limits/waiting_room.hpp"
#include "locks/book.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace stint::runtime {

// A worker's tick would be up to 50 ms late. Where something was given back for which somebody
// waits, whoever gave it back lets the next one in. Outlives every worker.
class Openings final : private limits::Bell {
  public:
    // registry: outlives this.
    Openings(limits::Registry& registry, WallTime started);
    ~Openings();
    Openings(const Openings&) = delete;
    Openings& operator=(const Openings&) = delete;

    [[nodiscard]] limits::WaitingRoom& room() noexcept { return room_; }
    [[nodiscard]] locks::Book& locks() noexcept { return locks_; }
    [[nodiscard]] const locks::Book& locks() const noexcept { return locks_; }

  private:
    void ring_at(SteadyTime at) noexcept override;
    void ring_now() noexcept override;
    void run();

    std::mutex mutex_;
    std::condition_variable rung_;
    SteadyTime next_ = SteadyTime::max();
    bool stopping_ = false;
    limits::WaitingRoom room_{*this};
    locks::Book locks_; // frees slots for which somebody may wait
    std::thread thread_;
};

} // namespace stint::runtime
