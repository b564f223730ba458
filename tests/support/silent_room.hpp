// A waiting room that nobody opens but the test.
#pragma once

#include "limits/queue/admission_queue.hpp"

namespace stint::test {

class SilentRoom final : private limits::WakeupScheduler {
  public:
    operator limits::AdmissionQueue&() noexcept { return room_; }
    [[nodiscard]] limits::AdmissionQueue& room() noexcept { return room_; }
    [[nodiscard]] limits::WakeupScheduler& scheduler() noexcept { return *this; }

  private:
    void schedule(SteadyTime) noexcept override {}
    void run_now() noexcept override {}

    limits::AdmissionQueue room_{*this};
};

} // namespace stint::test
