// Overrides that an operator set at run time. They outlive reloads and may expire.
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
    std::string pattern; // a key as requests spell it, or one with "*" and "?" in it
    limits::Numbers numbers{};
    std::optional<SteadyTime> expires; // nothing: never expires
    WallTime since{};                  // when it was set
};

// Overrides by the limit's name. Used by the control thread alone.
class LiveOverrides {
  public:
    static constexpr std::size_t most = 10'000; // over all limits together

    // Adds an override, or replaces the one with this pattern. False: there are too many already.
    [[nodiscard]] bool put(const std::string& limit, LiveOverride override);
    // Returns true if there was one.
    bool erase(const std::string& limit, std::string_view pattern);
    // Returns true if any expired.
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
