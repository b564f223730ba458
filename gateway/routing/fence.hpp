// The fencing number in X-Stint-Fence, for routes with require_fence.
#pragma once

#include "base/message.hpp"
#include "limits/limit.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace stint::routing {

// The fencing number that a request presents. Plain data: does not refer to the request.
class ShownFence {
  public:
    enum class Fault : std::uint8_t {
        none,
        missing,
        malformed, // more than one field, or not a number
        outdated   // the lock has a newer holder
    };

    ShownFence() = default; // has no fault; for requests that need no number
    // Reads X-Stint-Fence, which must occur once and in digits. Safe methods (RFC 9110 section
    // 9.2.1) need none.
    ShownFence(std::string_view method, std::span<const Field> fields) noexcept;

    // Compares with the lock's fencing number, and returns the fault, if any. A fault is permanent,
    // because fencing numbers only rise.
    [[nodiscard]] Fault against(const limits::Limit& lock) const noexcept {
        return fault_ == Fault::none && number_ < lock.fence() ? Fault::outdated : fault_;
    }

  private:
    std::uint64_t number_ = std::numeric_limits<std::uint64_t>::max();
    Fault fault_ = Fault::none;
};

// Returns the description of the fault for the client; a sentence without its full stop.
[[nodiscard]] std::string describe(ShownFence::Fault fault);

} // namespace stint::routing
