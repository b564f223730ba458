// Totals of the verdicts on a log, and the differences between two sides.
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

// The totals of one side: a configuration, or the log itself. Memory is bounded by the
// configuration.
class Tally {
  public:
    void add(const Verdict& verdict);

    [[nodiscard]] const std::map<std::string, RouteTally>& routes() const noexcept {
        return routes_;
    }
    // The keys refused most often, by limit.
    [[nodiscard]] const std::map<std::string, limits::SpaceSaving>& keys() const noexcept {
        return keys_;
    }
    // Requests for which a limit was skipped, by limit.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& undecided() const noexcept {
        return undecided_;
    }
    [[nodiscard]] std::uint64_t admitted() const noexcept { return admitted_; }
    // Requests that waited before a limit, whatever came then, and the longest of these waits.
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

// Requests on which two sides disagree.
struct Difference {
    struct Count {
        std::uint64_t newly_refused = 0;
        std::uint64_t newly_admitted = 0;
    };
    using Place = std::pair<std::string, std::string>; // the route, and the limit that refuses

    void add(const Verdict& before, const Verdict& after);

    Count total;
    std::map<Place, Count> places;
    std::uint64_t other_route = 0; // taken by another route, or by none, or by one where none did
};

} // namespace stint::simulate
