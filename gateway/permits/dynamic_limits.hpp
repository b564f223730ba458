// Limits that clients define in their requests: made on first use, bounded in number, dropped once
// idle.
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

// A limit that a client has defined.
struct DynamicLimit {
    routing::LimitTermsPtr terms;
    routing::RouteLimit on_route{}; // its index is unused: the limit is in no snapshot

    [[nodiscard]] routing::AppliedLimit applied() const noexcept {
        return {terms.get(), &on_route};
    }
};
using DynamicLimitPtr = std::shared_ptr<const DynamicLimit>;

// One for all workers. Threads: any.
class DynamicLimits {
  public:
    // Keys that one limit counts exactly; further keys share counters
    // (limits/counter/overflow.hpp).
    static constexpr std::uint64_t keys_each = 10'000;

    explicit DynamicLimits(limits::Registry& registry) : registry_{registry} {}

    enum class Failure : std::uint8_t {
        unknown,   // the limit does not exist, and the request does not or may not define it
        different, // the limit has another quota or window
        too_many   // the maximum number of dynamic limits is in use
    };
    // Returns the dynamic limit of this name, or why there is none. If it does not exist, makes it
    // with the quota and window that the request defines (`brought`). A limit that no request has
    // named for two of its windows is idle: a request that defines other numbers changes it, and it
    // is dropped when room for a new limit is needed. The returned pointer keeps the limit alive.
    // most: the most limits at a time. metric: index of the limit's entries in each worker's
    // metrics.
    [[nodiscard]] std::variant<DynamicLimitPtr, Failure> obtain(
        std::string_view name,
        const std::optional<Brought>& brought,
        std::uint64_t most,
        std::uint32_t metric,
        SteadyTime now);

    [[nodiscard]] std::size_t size() const;

  private:
    struct Known {
        DynamicLimitPtr limit;
        SteadyTime used{}; // time of the last request
    };
    [[nodiscard]] bool make_room(std::uint64_t most, SteadyTime now);

    limits::Registry& registry_;
    mutable std::mutex mutex_;
    routing::TextMap<Known> known_;
};

} // namespace stint::permits
