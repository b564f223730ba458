// The admission decision about a request, from its head to its outcome: route, fencing token,
// cool-down, charges, queue, reservations. All entry points (admission/door.hpp) use it. Start
// reading at decide().
#pragma once

#include "admission/callbacks.hpp"
#include "admission/door.hpp"
#include "admission/local_reply.hpp"
#include "admission/rate_limit_headers.hpp"
#include "admission/scratch.hpp"
#include "admission/settlement.hpp"
#include "admission/share_wait.hpp"
#include "base/hash.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"
#include "limits/permit.hpp"
#include "limits/prepaid.hpp"
#include "observe/outcome.hpp"
#include "routing/charges.hpp"
#include "routing/fence.hpp"
#include "routing/key_template.hpp"
#include "routing/snapshot.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace stint::admission {

inline constexpr std::string_view no_host = "the request has no Host to be redirected to";
inline constexpr std::string_view body_too_long = "the request's body is larger than max_body";

// The next step of a request.
enum class Next : std::uint8_t {
    forward,       // the request is admitted
    respond,       // the request is admitted, and its route has a response of its own
    wait_queue,    // the request waits in the admission queue, through Callbacks::make_queued()
    wait_shares,   // the request waits for larger shares of limits that gateways share
    wait_cooldown, // the request may wait for the end of its cool-down; no limit is charged yet
    reply          // the request is not admitted: RequestAdmission::reply() says why
};

// The result of a decision that charges nothing.
struct Preview {
    routing::Charges charges;
    std::array<limits::ChargeState, limits::max_charges> states; // one for each charge
    limits::Decision decision; // by the limits; retry_after has no jitter
    Duration wait{};           // for Next::wait_queue and wait_cooldown: an estimate
    bool elsewhere = false;    // another gateway was asked for the pause
};

// For a request that was admitted: the names of the first limit in dry run (not enforced) that
// would have refused it, and of the first that would have let it wait. Empty: none.
struct DryRun {
    std::string_view would_refuse;
    std::string_view would_wait;
};

// The objects that a decision uses. All of them outlive the RequestAdmission.
struct Environment {
    const routing::Snapshot& snapshot;
    Scratch& scratch;
    Callbacks& callbacks;
    const KeyHasher* ticket_hasher = nullptr;  // signs the tickets of reserved slots
    limits::PrepaidPermits* prepaid = nullptr; // null: prepaid permits are not accepted
    limits::ShareRequests* shares = nullptr;   // null: no store of shares is asked
    Preview* preview = nullptr;                // if set, nothing is charged, counted or queued
};

// Returns the facts of a request that its keys are made of, except host, path and route: decide()
// adds those.
[[nodiscard]] inline routing::KeyFacts facts_of(
    const RequestHead& head,
    const routing::ClientAddress& client,
    const KeyHasher& hasher,
    std::string_view tls_subject = {}) noexcept {
    return {
        .client = client,
        .hasher = hasher,
        .fields = head.fields,
        .query = head.query,
        .method = head.method,
        .tls_subject = tls_subject};
}

// The admission of one request. No I/O, no clock; not thread-safe. Owns what the request was
// granted: the destructor frees slots and leaves charges counted.
class RequestAdmission {
  public:
    RequestAdmission(Door door, const Environment& environment) noexcept
        : features_{door}, env_{environment} {}
    RequestAdmission(const RequestAdmission&) = delete;
    RequestAdmission& operator=(const RequestAdmission&) = delete;

    // Decides about the request. facts: from facts_of(); gets host, path and route. arrived: bytes
    // of the body received so far.
    [[nodiscard]] Next decide(
        const RequestHead& head, routing::KeyFacts& facts, std::uint64_t arrived, const Now& now);
    // Adds host, path and route to the facts of a head that decide() has routed before.
    void complete(const RequestHead& head, routing::KeyFacts& facts) const;
    // Asks the route's limits. Call after Next::wait_cooldown, and again after undo(); before each
    // call, resume() sets the time.
    [[nodiscard]] Next admit(const routing::KeyFacts& facts);
    // Applies the queue's decision. Call after Next::wait_queue and resume(). Never queues again: a
    // fencing token that has become stale, or a pause that has begun, refuses the request and
    // refunds its charges. waited: time in the queue.
    [[nodiscard]] Next finish_queue(QueuedCharges& queued, Duration waited);
    // Asks the limits again. Call after Next::wait_shares and resume(), once
    // Callbacks::shares_answered() was called or the instant given to shares_asked() has passed. A
    // fencing token that has become stale, or a pause that has begun, refuses the request and
    // refunds its charges. May return Next::wait_queue.
    [[nodiscard]] Next finish_shares();
    // Sets the instant at which a wait has ended. Returns for how long the request has waited since
    // the last decision.
    Duration resume(const Now& now) noexcept;
    // Refunds all charges and frees all slots of a request that was not sent.
    void undo(const Now& now) noexcept;
    // Checks the fencing token again: another holder may have got the lock during a wait. False:
    // reply() is 412.
    [[nodiscard]] bool fence_holds();
    // Sets the reply to a refusal by the route's cool-down.
    Next refuse_paused(const limits::Cooldown::Refused& refused);

    [[nodiscard]] const routing::Route* route() const noexcept { return route_; } // null: none yet
    [[nodiscard]] bool sends_normal_path() const noexcept { return sends_normal_path_; }
    // The instant of the latest decision: that of decide(), or of resume() after a wait.
    [[nodiscard]] const Now& decided() const noexcept { return decided_; }
    [[nodiscard]] const limits::CooldownPtr& cooldown() const noexcept { return cooldown_; }
    [[nodiscard]] limits::Permit& permit() noexcept { return permit_; }
    [[nodiscard]] Settlement& settlement() noexcept { return settlement_; }
    [[nodiscard]] const RateLimitHeaders& headers() const noexcept { return headers_; }
    [[nodiscard]] const DryRun& dry_run() const noexcept { return dry_run_; }
    // Returns the limits that this entry point (Door) cannot apply and has skipped: bit i stands
    // for route()->limits[i].
    [[nodiscard]] std::uint32_t left_out() const noexcept { return left_out_; }

    // For Next::reply: the response, which the caller may replace, and how the request ends.
    [[nodiscard]] LocalReply& reply() noexcept { return reply_; }
    struct Ending {
        int status = 200;
        observe::Outcome outcome = observe::Outcome::forwarded;
        // The connection is to end after the reply: the rest of the request is not read.
        bool connection = false;
    };
    [[nodiscard]] const Ending& ending() const noexcept { return ending_; }

  private:
    // Tells why the limits are asked. For the first time: `facts` is set. Again after a wait for
    // shares: `before` is set. Neither is set after a wait in the queue.
    struct Asked {
        const routing::KeyFacts* facts = nullptr;
        const ShareWait* before = nullptr;
        [[nodiscard]] bool failed() const noexcept { return before != nullptr && before->failed(); }
        [[nodiscard]] WaitTermsList
        terms(const routing::Charges& charges, std::string& scratch) const;
    };

    // Defined in request_admission.cpp: the steps before the limits.
    bool select_route(const RequestHead& head, routing::KeyFacts& facts);
    bool body_fits(const RequestHead& head, std::uint64_t arrived);
    bool may_go_on(const RequestHead& head, const routing::KeyFacts& facts);
    bool check_fence(const routing::KeyFacts& facts);
    Next check_cooldown(const routing::KeyFacts& facts);
    bool is_closed();
    Next preview_cooldown(Hash128 scope, std::string_view text);
    Next end(int status, observe::Outcome outcome) noexcept;
    bool fail(int status, std::string_view detail, observe::Outcome outcome);

    // Defined in request_limits.cpp: the steps that ask the limits.
    void leave_out_prepaid(routing::Charges& charges, std::span<const Field> fields);
    Next admitted();
    Next charge(routing::Charges& charges, const Asked& asked);
    Next charge_in_turn(const routing::Charges& charges, const Asked& asked);
    std::optional<Next> without_share(
        const limits::Decision& refused, const routing::Charges& charges, const Asked& asked);
    Next finish_wait();
    Next preview(routing::Charges& charges, const routing::KeyFacts& facts);
    Next settle_queue(QueuedCharges& queued);
    Next accept(limits::Decision& decision, const routing::Charges& charges, const Asked& asked);
    Next
    refuse(const routing::Charges& charges, const limits::Decision& decision, const Asked& asked);

    const Features features_;
    const Environment env_;
    const routing::Route* route_ = nullptr;
    Now decided_;
    limits::Permit permit_;
    std::unique_ptr<ShareWait> shares_;     // null: does not wait for shares
    limits::PrepaidPermits::Claim prepaid_; // spent once the request is admitted
    limits::CooldownPtr cooldown_;          // null: none applies
    routing::ShownFence fence_; // the request's fencing token, if the route requires one
    RateLimitHeaders headers_;
    Settlement settlement_;
    DryRun dry_run_;
    std::uint32_t left_out_ = 0;
    LocalReply reply_;
    Ending ending_;
    bool has_host_ = false; // the request names a host
    bool sends_normal_path_ = false;
    bool shows_permit_ = false; // a prepaid permit is presented and may pay for a charge
};

} // namespace stint::admission
