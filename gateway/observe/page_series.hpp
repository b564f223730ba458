// Keeps the Prometheus page small: the counts of most routes, limits and so on together, if there
// are many.
#pragma once

#include "observe/metrics.hpp"
#include "observe/series_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stint::observe {

// Label value of the series that count all names without series of their own.
inline constexpr std::string_view other_names = "(other)";

// The arguments of exposition().
struct PageParts {
    WorkerCounters sum;
    MetricSlots slots;
    ProcessFigures figures;
};

// Remembers over the life of the process which names have series of their own. Used by the control
// thread alone.
class PageSeries {
  public:
    // Returns what the page shows: at most `most` routes, and as many pairs of a route and a limit,
    // limits, queues, upstreams, endpoints, cooldowns and locks, each chosen by SeriesChoice. The
    // rest is summed under other_names. Names in parentheses are never summed. No counter of the
    // result is lower than in the last one, except for a name that has left the configuration.
    [[nodiscard]] PageParts bounded(
        const WorkerCounters& sum,
        const MetricSlots& slots,
        ProcessFigures figures,
        std::size_t most);

    // A choice among names that have no metric slots.
    struct ByName {
        SeriesChoice choice;
        std::map<std::string, std::size_t> indices;
        // The counters of the names without own series, in the order of the figures' members, as
        // last seen and as shown. What leaves the configuration is missing in the first, and the
        // second never falls.
        std::vector<std::uint64_t> seen;
        std::vector<std::uint64_t> shown;
        bool any_other = false; // true once any name was counted together
    };

  private:
    SeriesChoice routes_;
    SeriesChoice refusals_;
    SeriesChoice upstreams_;
    SeriesChoice waits_;
    ByName limits_;
    ByName endpoints_;
    ByName cooldowns_;
    ByName locks_;
};

} // namespace stint::observe
