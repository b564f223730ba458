// Totals of the verdicts on a log, and the differences between two sets of verdicts.
#pragma once

#include "base/hash.hpp"
#include "limits/top_keys/space_saving.hpp"
#include "simulate/verdict.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace stint::simulate {

struct RouteTally {
    std::uint64_t admitted = 0;
    std::map<std::string, std::uint64_t> refused; // by limit

    [[nodiscard]] std::uint64_t refusals() const noexcept;
};

// The totals of the verdicts by one configuration, or in the log. Memory is bounded by the numbers
// of routes and limits.
class Tally {
  public:
    void add(const Verdict& verdict);

    [[nodiscard]] const std::map<std::string, RouteTally>& routes() const noexcept {
        return routes_;
    }
    // Returns the most refused keys, by the name of the limit. An empty key stands for the requests
    // without a key.
    [[nodiscard]] const std::map<std::string, limits::SpaceSaving>& keys() const noexcept {
        return keys_;
    }
    // Returns the number of requests for which a limit was skipped, by the name of the limit.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& undecided() const noexcept {
        return undecided_;
    }
    [[nodiscard]] std::uint64_t admitted() const noexcept { return admitted_; }
    // Return the number of requests that were queued, whatever their outcome, and the longest time
    // in a queue.
    [[nodiscard]] std::uint64_t waited() const noexcept { return waited_; }
    [[nodiscard]] Duration longest_wait() const noexcept { return longest_wait_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::uint64_t unrouted() const noexcept { return unrouted_; }

  private:
    std::map<std::string, RouteTally> routes_;
    std::map<std::string, limits::SpaceSaving> keys_;
    std::map<std::string, std::uint64_t> undecided_;
    KeyHasher hasher_;
    std::uint64_t admitted_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t unrouted_ = 0;
    std::uint64_t waited_ = 0;
    Duration longest_wait_{};
};

// Counts the requests on which two sets of verdicts differ.
struct Difference {
    struct Count {
        std::uint64_t newly_refused = 0;
        std::uint64_t newly_admitted = 0;
    };
    using Place = std::pair<std::string, std::string>; // route name, refusing limit

    void add(const Verdict& before, const Verdict& after);

    Count total;
    std::map<Place, Count> places;
    std::uint64_t other_route = 0; // requests whose route differs, or is in only one of the sets
};

} // namespace stint::simulate
