// The clock of those who wait before limits: calls WaitingRoom::open() at the very instant of each
// opening, from a thread of its own.
#pragma once

#include "base/time.hpp"
#include "limits/waiting_room.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace stint::runtime {

// A worker's tick would be up to 50 ms late. The thread sleeps until the next opening, or until
// something was given back for which somebody waits. Outlives every worker.
class Openings final : private limits::Bell {
  public:
    Openings();
    ~Openings();
    Openings(const Openings&) = delete;
    Openings& operator=(const Openings&) = delete;

    [[nodiscard]] limits::WaitingRoom& room() noexcept { return room_; }

  private:
    void ring_at(SteadyTime at) noexcept override;
    void run();

    limits::WaitingRoom room_{*this};
    std::mutex mutex_;
    std::condition_variable rung_;
    SteadyTime next_ = SteadyTime::max();
    bool stopping_ = false;
    std::thread thread_;
};

} // namespace stint::runtime
