// One request's wait for larger shares of the limits that gateways share.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/queue/waiter.hpp"
#include "limits/shared/share_requests.hpp"
#include "routing/charges.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace stint::admission {

// The Retry-After of a refusal because a store cannot be asked.
inline constexpr Duration store_retry_after = std::chrono::seconds{1};

// Refers to the request's configuration snapshot. Nothing is charged during the wait.
class ShareWait final : private limits::ShareRequests::Request {
  public:
    // Keeps the charges that the request asks for, each refundable.
    ShareWait(const routing::Charges& charges, WaitTermsList terms, ShareAnswerListener& listener);

    // Asks the stores for larger shares of the limits that refuse because of their share. Calls
    // ShareAnswerListener::shares_asked() before it asks; shares_answered() follows when the stores
    // have answered. Requires: can_ask(). Throws std::bad_alloc with nothing changed.
    void ask(limits::ShareRequests& of, const limits::Decision& refused, const Now& now);

    [[nodiscard]] routing::Charges& charges() noexcept { return charges_; }
    [[nodiscard]] const WaitTermsList& terms() const noexcept { return terms_; }
    // True unless all stores have answered. After the wait: one of them has failed, or the time is
    // over.
    [[nodiscard]] bool failed() const noexcept { return !told_; }

  private:
    void answered(limits::ShareAnswer answer) noexcept override;

    routing::Charges charges_;
    WaitTermsList terms_;
    ShareAnswerListener& listener_;
    bool told_ = false;
};

// Checks which shares are too small (Decision::lacks_share of the result) for a request that has to
// queue behind others, because the queue itself never asks the stores. Charges nothing. Returns an
// empty decision if none of the limits is shared.
[[nodiscard]] limits::Decision shares_for(const routing::Charges& charges, const Now& now);

// Asks the stores for larger shares for charges in dry run (not enforced): bit i of `lacking`
// stands for charge i. No request waits for the answers. Throws std::bad_alloc.
void ask_for_dry_run(
    limits::ShareRequests& of,
    const routing::Charges& charges,
    const WaitTermsList& terms,
    std::uint32_t lacking);

// True if larger shares would admit the request, or let it wait for its turn at other limits, and
// the stores may have them. waiting: bit i = charge i's limit lets the request wait.
[[nodiscard]] bool can_ask(const limits::Decision& refused, std::uint32_t waiting) noexcept;

// Returns the charges with Charge::ignore_share set where a share refuses, if all the refusing
// limits have OnStoreFailure::open and stores that cannot be asked: then this gateway counts them
// alone. Otherwise returns nothing. failed: the stores were asked, and have not answered.
[[nodiscard]] std::optional<routing::Charges>
without_shares(const routing::Charges& charges, const limits::Decision& refused, bool failed);

// True if the request is refused only because a store cannot be asked: this gateway has no share of
// the key at all.
[[nodiscard]] bool is_for_want_of_store(
    const routing::Charges& charges,
    const limits::Decision& refused,
    bool failed,
    const Now& now) noexcept;

} // namespace stint::admission
