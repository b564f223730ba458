// The decision about a request, from its head to its outcome: route, fencing token, cool-down,
// charges, queue, reservations. Every door (door.hpp) takes it here. Start reading at decide().
#pragma once

#include "admission/callbacks.hpp"
#include "admission/door.hpp"
#include "admission/local_reply.hpp"
#include "admission/rate_limit_headers.hpp"
#include "admission/scratch.hpp"
#include "admission/settlement.hpp"
#include "admission/shared_admission.hpp"
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
#include <span>
#include <string_view>

namespace stint::admission {

inline constexpr std::string_view no_host = "the request has no Host to be redirected to";
inline constexpr std::string_view body_too_long = "the request's body is larger than max_body";

// The next step of a request.
enum class Next : std::uint8_t {
    forward,       // it is admitted
    respond,       // it is admitted, and its route responds
    wait_queue,    // it waits in the admission queue, as Callbacks::make_queued() has made it
    wait_shared,   // its other limits admit it; it waits for the answer of shared counters
    wait_cooldown, // it may wait until its cool-down lets it go; no limit is charged yet
    reply          // it is not admitted: RequestAdmission::reply()
};

// A decision that was made without charging, and what it saw.
struct Preview {
    routing::Charges charges;
    std::array<limits::ChargeState, limits::max_charges> states; // one for each charge
    limits::Decision decision; // by the limits; retry_after has no jitter
    Duration wait{};           // for Next::wait_queue and wait_cooldown: an estimate
};

// The surroundings of a decision. All of it outlives the RequestAdmission.
struct Environment {
    const routing::Snapshot& snapshot;
    Scratch& scratch;
    Callbacks& callbacks;
    const KeyHasher* ticket_hasher = nullptr;  // seals slots' tickets
    limits::PrepaidPermits* prepaid = nullptr; // null: no permit can be shown
    // The worker's. Null: a shared limit is counted as any other.
    limits::SharedCharges* shared = nullptr;
    Preview* preview = nullptr; // if set, nothing is charged, counted or queued
};

// The facts of a request, apart from those that its route completes: host, path and route.
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

// One request's. No I/O, no clock. Holds what the request was granted: destroyed, it frees slots
// and keeps charges, but for Next::wait_shared, where it gives all back. Not thread-safe.
class RequestAdmission {
  public:
    RequestAdmission(Door door, const Environment& environment) noexcept
        : features_{door}, env_{environment} {}
    RequestAdmission(const RequestAdmission&) = delete;
    RequestAdmission& operator=(const RequestAdmission&) = delete;

    // Decides. facts: facts_of(), to be completed. arrived: bytes of the body that have come.
    [[nodiscard]] Next decide(
        const RequestHead& head, routing::KeyFacts& facts, std::uint64_t arrived, const Now& now);
    // Completes the facts of a head that decide() has routed before.
    void complete(const RequestHead& head, routing::KeyFacts& facts) const;
    // Asks the route's limits: after Next::wait_cooldown, and again after undo(). now: as of
    // resume().
    [[nodiscard]] Next admit(const routing::KeyFacts& facts);
    // Takes the queue's decision, after Next::wait_queue and resume(). Never waits again: a lock or
    // a pause that has changed meanwhile refuses the request, and gives its charges back. waited:
    // in the queue.
    [[nodiscard]] Next finish_queue(QueuedCharges& queued, Duration waited);
    // Takes the shared counters' answer, after Next::wait_shared, Callbacks::shared_answered() and
    // resume(). All charges are given back where it refuses, or where a lock or a pause that has
    // changed meanwhile does. A client that leaves during this wait: undo().
    [[nodiscard]] Next finish_shared();
    // Sets the instant at which a wait has ended. Returns for how long the request has waited since
    // the last decision.
    Duration resume(const Now& now) noexcept;
    // Gives all charges and slots back, before the request has been sent; also those that shared
    // counters have yet to answer.
    void undo(const Now& now) noexcept;
    // Checks the fencing token again: the lock may have been given out during a wait. False:
    // reply() is 412.
    [[nodiscard]] bool fence_holds();
    // Sets the refusal during a pause.
    Next refuse_paused(const limits::Cooldown::Refused& refused);

    [[nodiscard]] const routing::Route* route() const noexcept { return route_; } // null: none yet
    [[nodiscard]] bool sends_normal_path() const noexcept { return sends_normal_path_; }
    // The instant of the decision: decide()'s, until the request has waited.
    [[nodiscard]] const Now& decided() const noexcept { return decided_; }
    [[nodiscard]] const limits::CooldownPtr& cooldown() const noexcept { return cooldown_; }
    [[nodiscard]] limits::Permit& permit() noexcept { return permit_; }
    [[nodiscard]] Settlement& settlement() noexcept { return settlement_; }
    [[nodiscard]] const RateLimitHeaders& headers() const noexcept { return headers_; }
    // The first limit that would have refused, were it enforced; empty: none.
    [[nodiscard]] std::string_view would_refuse() const noexcept { return would_refuse_; }
    // Bit i: the door leaves out the route's limit i.
    [[nodiscard]] std::uint32_t left_out() const noexcept { return left_out_; }

    // For Next::reply: the response, its status and its outcome. The response can be replaced.
    [[nodiscard]] LocalReply& reply() noexcept { return reply_; }
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] observe::Outcome outcome() const noexcept { return outcome_; }
    // True if the connection is to end after the reply: the rest of the request is not read.
    [[nodiscard]] bool ends_connection() const noexcept { return ends_connection_; }

  private:
    // request_admission.cpp: before the limits.
    bool select_route(const RequestHead& head, routing::KeyFacts& facts);
    bool body_fits(const RequestHead& head, std::uint64_t arrived);
    bool may_go_on(const RequestHead& head, const routing::KeyFacts& facts);
    bool check_fence(const routing::KeyFacts& facts);
    Next check_cooldown(const routing::KeyFacts& facts);
    bool is_closed();
    Next preview_cooldown(Hash128 scope);
    Next end(int status, observe::Outcome outcome) noexcept;
    bool fail(int status, std::string_view detail, observe::Outcome outcome);

    // request_limits.cpp: the limits.
    void leave_out_prepaid(routing::Charges& charges, std::span<const Field> fields);
    Next admitted();
    Next charge(routing::Charges& charges, const routing::KeyFacts& facts);
    Next charge_in_turn(const routing::Charges& charges, const routing::KeyFacts& facts);
    Next preview(routing::Charges& charges, const routing::KeyFacts& facts);
    Next settle_queue(QueuedCharges& queued);
    Next accept(limits::Decision& decision, const routing::Charges& charges);
    // without_store: only because shared counters have not answered.
    Next refuse(
        const routing::Charges& charges,
        const limits::Decision& decision,
        bool without_store = false);

    const Features features_;
    const Environment env_;
    const routing::Route* route_ = nullptr;
    Now decided_;
    limits::Permit permit_;
    std::unique_ptr<SharedAdmission> shared_; // null: no shared limit applies
    limits::PrepaidPermits::Claim prepaid_;   // spent once the request is admitted
    limits::CooldownPtr cooldown_;            // null: none applies
    routing::ShownFence fence_;               // where the route requires one
    RateLimitHeaders headers_;
    Settlement settlement_;
    std::string_view would_refuse_;
    std::uint32_t left_out_ = 0;
    LocalReply reply_;
    int status_ = 200;
    observe::Outcome outcome_ = observe::Outcome::forwarded;
    bool ends_connection_ = false;
    bool has_host_ = false; // the request names one
    bool sends_normal_path_ = false;
    bool shows_permit_ = false; // the permit may yet pay for something
};

} // namespace stint::admission
