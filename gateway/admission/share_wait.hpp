// One request's wait for larger shares of the limits that gateways share.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/queue/waiter.hpp"
#include "limits/shared/share_requests.hpp"
#include "routing/charges.hpp"

#include <boost/container/small_vector.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace stint::admission {

// For each charge, the conditions on which its limit lets the request wait, and its key's text.
using WaitTermsList = boost::container::small_vector<limits::WaitTerms, 4>;

// The Retry-After of a refusal because a store cannot be asked.
inline constexpr Duration store_retry_after = std::chrono::seconds{1};

// Refers to the request's configuration snapshot. Nothing is charged meanwhile.
class ShareWait final : private limits::ShareRequests::Request {
  public:
    // Keeps the charges that the request asks for, each refundable.
    ShareWait(const routing::Charges& charges, WaitTermsList terms, ShareAnswerListener& listener);

    // Asks the stores for the shares that the decision lacks. The ShareAnswerListener is called now
    // and at the end of the wait. Requires: can_ask(). Throws std::bad_alloc with nothing
    // changed.
    void ask(limits::ShareRequests& of, const limits::Decision& refused, const Now& now);

    [[nodiscard]] routing::Charges& charges() noexcept { return charges_; }
    [[nodiscard]] const WaitTermsList& terms() const noexcept { return terms_; }
    // True until the stores have answered: they have failed, or the time is over.
    [[nodiscard]] bool failed() const noexcept { return !told_; }

  private:
    void answered(limits::ShareAnswer answer) noexcept override;

    routing::Charges charges_;
    WaitTermsList terms_;
    ShareAnswerListener& listener_;
    bool told_ = false;
};

// Returns which shares are too small for a request that is to join a queue, which does not ask the
// stores. Without shared limits it is an empty decision.
[[nodiscard]] limits::Decision shares_for(const routing::Charges& charges, const Now& now);

// Asks the stores for the shares that charges which are not enforced lack (a bit each). No request
// waits for the answers. Throws std::bad_alloc.
void ask_for_dry_run(
    limits::ShareRequests& of,
    const routing::Charges& charges,
    const WaitTermsList& terms,
    std::uint32_t lacking);

// True if larger shares would admit the request, or let it wait for its turn at other limits, and
// the stores may have them. waiting: bit i = charge i's limit lets the request wait.
[[nodiscard]] bool can_ask(const limits::Decision& refused, std::uint32_t waiting) noexcept;

// Returns the charges without the shares that refuse, if the limits are to be counted by this
// gateway alone (OnStoreFailure::open) because their stores cannot be asked. failed: they were
// asked, and have not answered.
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
