// Limits that callers bring: made on first use, bounded in number, forgotten once they are idle.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "limits/registry.hpp"
#include "permits/acquire_request.hpp"
#include "routing/route.hpp"
#include "routing/text_map.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <variant>

namespace stint::permits {

using RouteLimitPtr = std::shared_ptr<const routing::RouteLimit>;

// One for all workers. Threads: any.
class DynamicLimits {
  public:
    // Keys that one limit counts exactly; more are counted together (limits/counter/overflow.hpp).
    static constexpr std::uint64_t keys_each = 10'000;

    explicit DynamicLimits(limits::Registry& registry) : registry_{registry} {}

    enum class Failure : std::uint8_t {
        unknown,   // no caller has brought it, and the request has no numbers
        different, // it has other numbers
        too_many   // the maximum number of limits is in use
    };
    // Returns the limit of this name, made now if there is none and the request brings its numbers.
    // It lives at least as long as its pointer, or until no caller has asked for it for two of its
    // windows and another limit needs its place. most: limits allowed. metric: slot in the workers'
    // counters.
    [[nodiscard]] std::variant<RouteLimitPtr, Failure> obtain(
        std::string_view name,
        const std::optional<Brought>& brought,
        std::uint64_t most,
        std::uint32_t metric,
        SteadyTime now);

    [[nodiscard]] std::size_t size() const;

  private:
    struct Known {
        RouteLimitPtr limit;
        SteadyTime used{}; // last
    };
    [[nodiscard]] bool make_room(std::uint64_t most, SteadyTime now);

    limits::Registry& registry_;
    mutable std::mutex mutex_;
    routing::TextMap<Known> known_;
};

} // namespace stint::permits
