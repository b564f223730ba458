#include "simulate/simulated_request.hpp"

#include "limits/limit.hpp"

#include <algorithm>
#include <string_view>

namespace stint::simulate {

using admission::Next;

class SimulatedRequest::Queued final : public admission::QueuedCharges {
  public:
    Queued(limits::Mailbox& mailbox, SimulatedRequest& request) noexcept
        : QueuedCharges{mailbox}, of{request} {}

    SimulatedRequest& of;
};

SimulatedRequest& SimulatedRequest::of(limits::Waiter& waiter) noexcept {
    return static_cast<Queued&>(waiter).of;
}

SimulatedRequest::SimulatedRequest(
    const LoggedRequest& logged, const Surroundings& in, Decided decided)
    : in_{in}, decided_{std::move(decided)}, duration_{logged.duration}, status_{logged.status},
      was_refused_{logged.was_refused()}, admission_{
                                              admission::Door::simulate,
                                              {.snapshot = in.snapshot,
                                               .scratch = in.scratch,
                                               .callbacks = *this,
                                               .ticket_hasher = &in.ticket_hasher}} {}

SimulatedRequest::~SimulatedRequest() {
    if (queued_)
        in_.queue.leave(*queued_, {});
}

SimulatedRequest::Step SimulatedRequest::begin(
    const LoggedRequest& logged, const RequestHead& head, routing::KeyFacts& facts, Now now) {
    logged_ = &logged;
    const Next next = admission_.decide(head, facts, 0, now);
    logged_ = nullptr;
    return decided(next, now);
}

SimulatedRequest::Step SimulatedRequest::finish_wait(const Now& now) {
    const Duration waited = admission_.resume(now);
    const Next next = admission_.finish_queue(*queued_, waited);
    drop_queued();
    return decided(next, now);
}

// Reports the verdict once there is one. An admitted request ends after the duration in the log. A
// request that was refused in the log has no known end: it counts in full and holds slots for no
// time.
SimulatedRequest::Step SimulatedRequest::decided(Next next, const Now& now) {
    if (next == Next::wait_queue)
        return Step::waits;
    const bool refused = admission_.ending().outcome == observe::Outcome::refused;
    if (next != Next::reply)
        verdict_.kind = Verdict::Kind::admitted;
    else if (refused)
        verdict_.kind = Verdict::Kind::refused;
    if (verdict_.kind != Verdict::Kind::unrouted)
        verdict_.route = admission_.route()->name;
    verdict_.end_matters = next != Next::reply &&
                           (admission_.permit().holds_slots() || !admission_.settlement().empty());
    until_ = now.steady + duration_;
    decided_(verdict_);
    return verdict_.end_matters ? Step::runs : Step::over;
}

void SimulatedRequest::end(const Now& now) {
    if (!was_refused_)
        admission_.settlement().settle_end(status_, admission_.permit(), now);
    admission_.permit().release(now);
}

// Returns false, and notes the limit as undecided, if the limit reads a field that the log may have
// omitted. Otherwise keeps the key, in case the limit refuses or denies the request.
bool SimulatedRequest::concerns(routing::AppliedLimit limit, const routing::Key& key) noexcept {
    const auto lacks = [&](const std::string& name) { return !logged_->tells(name); };
    if (std::ranges::any_of(in_.doubtful[limit.on_route->index], lacks)) {
        verdict_.undecided.push_back(limit->limit->identity().name);
        return false;
    }
    if (limit->limit->keyed())
        keys_.emplace_back(limit.terms, key.missing ? std::string_view{} : key.text);
    return true;
}

void SimulatedRequest::refused(routing::AppliedLimit limit, Hash128, Duration) noexcept {
    denied(limit);
}

void SimulatedRequest::denied(routing::AppliedLimit limit) noexcept {
    verdict_.limit = limit->limit->identity().name;
    const auto key =
        std::ranges::find(keys_, limit.terms, [](const auto& each) { return each.first; });
    if (key != keys_.end())
        verdict_.key = key->second;
}

void SimulatedRequest::waited(routing::AppliedLimit, bool, Duration waited) noexcept {
    verdict_.waited = waited;
}

admission::QueuedCharges& SimulatedRequest::make_queued() {
    queued_ = std::make_unique<Queued>(in_.mailbox, *this);
    return *queued_;
}

void SimulatedRequest::drop_queued() noexcept {
    queued_.reset();
}

} // namespace stint::simulate
