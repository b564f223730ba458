#include "limits/window.hpp"

namespace stint::limits {

namespace {

// Where the wall clock stands between two multiples of `per`, also before 1970. Nothing is ever
// multiplied, so no wall clock can overflow it.
struct Natural {
    std::int64_t ordinal; // of the multiple ahead
    Duration to_boundary; // in (0, per]
};

Natural natural_window(WallTime wall, Duration per) noexcept {
    const std::int64_t since_epoch = wall.time_since_epoch().count();
    std::int64_t quotient = since_epoch / per.count();
    std::int64_t remainder = since_epoch % per.count();
    if (remainder < 0) {
        --quotient;
        remainder += per.count();
    }
    return {quotient + 1, per - Duration{remainder}};
}

} // namespace

bool ClockWindow::open_at(const Now& now, Duration per) const noexcept {
    return end > now.steady && natural_window(now.wall, per).ordinal <= ordinal;
}

bool ClockWindow::advance(const Now& now, Duration per) noexcept {
    const Natural natural = natural_window(now.wall, per);
    if (end > now.steady && natural.ordinal <= ordinal) [[likely]]
        return false;
    const SteadyTime natural_end = now.steady + natural.to_boundary;
    const bool seen_before = end != SteadyTime{} && natural.ordinal <= ordinal;
    const bool overlaps = natural_end - per < end;
    const bool join = seen_before && overlaps;
    end = join ? natural_end + per : natural_end;
    ordinal = join ? natural.ordinal + 1 : natural.ordinal;
    ++serial;
    return true;
}

} // namespace stint::limits
