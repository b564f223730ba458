// Overrides of quotas that an operator set at run time. They outlive reloads and may expire.
#pragma once

#include "base/time.hpp"
#include "limits/decision.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::runtime {

struct LiveOverride {
    std::string pattern; // a key as in requests, or a pattern with the wildcards "*" and "?"
    limits::Numbers numbers{};
    std::optional<SteadyTime> expires; // nullopt: never expires
    WallTime since{};                  // time at which the operator set it
};

// The quotas that operators have set for single keys at run time (overrides), by the limit's name.
// Used by the control thread alone.
class LiveOverrides {
  public:
    static constexpr std::size_t most = 10'000; // maximum over all limits together

    // Adds an override, or replaces the limit's override with the same pattern. Returns false if
    // there are `most` overrides already.
    [[nodiscard]] bool put(const std::string& limit, LiveOverride override);
    // Returns true if the limit had an override with this pattern.
    bool erase(const std::string& limit, std::string_view pattern);
    // Removes overrides that have expired by `now`. Returns true if there were any.
    bool expire(SteadyTime now);

    [[nodiscard]] std::optional<SteadyTime> next_end() const noexcept;
    // Returns the limit's overrides, ordered by pattern.
    [[nodiscard]] std::vector<LiveOverride> of(const std::string& limit) const;

    using ByLimitAndPattern = std::map<std::pair<std::string, std::string>, LiveOverride>;
    [[nodiscard]] const ByLimitAndPattern& all() const noexcept { return all_; }

  private:
    ByLimitAndPattern all_;
};

} // namespace stint::runtime
