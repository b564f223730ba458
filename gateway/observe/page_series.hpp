// Keeps the Prometheus page small: if there are many routes, limits and so on, sums most of them in
// one series.
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
        // The sums of the counters of all names without series of their own: an element for each
        // counter. `seen`: the sums at the last call, which fall when a name leaves the
        // configuration. `shown`: the values on the page, which never fall.
        std::vector<std::uint64_t> seen;
        std::vector<std::uint64_t> shown;
        bool any_other = false; // true once any name was summed under other_names
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
