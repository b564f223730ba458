#include "net/clock.hpp"

#include <ctime>

namespace stint::net {
namespace {

Duration read(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

} // namespace

Now read_clocks() noexcept {
    return {read_steady_clock(), WallTime{read(CLOCK_REALTIME)}};
}

SteadyTime read_steady_clock() noexcept {
    return SteadyTime{read(CLOCK_MONOTONIC)};
}

SteadyTime read_coarse_clock() noexcept {
    return SteadyTime{read(CLOCK_MONOTONIC_COARSE)};
}

} // namespace stint::net
