// A waiting room that nobody opens but the test.
#pragma once

#include "limits/waiting_room.hpp"

namespace stint::test {

class SilentRoom final : private limits::Bell {
  public:
    operator limits::WaitingRoom&() noexcept { return room_; }
    [[nodiscard]] limits::WaitingRoom& room() noexcept { return room_; }
    [[nodiscard]] limits::Bell& bell() noexcept { return *this; }

  private:
    void ring_at(SteadyTime) noexcept override {}
    void ring_now() noexcept override {}

    limits::WaitingRoom room_{*this};
};

} // namespace stint::test
