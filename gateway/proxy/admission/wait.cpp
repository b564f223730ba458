// Waits of a request, without touching the upstream: in the admission queue, for a pause to end, or
// for a place on an endpoint.
#include "http/head_parser.hpp"
#include "limits/limit.hpp"
#include "limits/queue/admission_queue.hpp"
#include "net/clock.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace stint::proxy {

// Admits a request at once if no other waits for its limits. Only the others enter the admission
// queue, which has a lock of its own.
Exchange::Next
Exchange::admit_in_turn(const routing::Charges& charges, const routing::KeyFacts& facts) {
    const auto& limits = charges.limits;
    const auto awaited = [](const routing::RouteLimit* each) {
        return each->wait && each->limit->awaited();
    };
    if (std::ranges::none_of(limits, awaited)) {
        limits::Decision decision = limits::try_admit(charges.view(), decided_);
        const bool admitted = decision.allowed();
        if (admitted || !limits[decision.refused_by]->wait) {
            if (route_->telling.any)
                rate_limit_headers_.note_turn(
                    charges.view(), {limits.data(), limits.size()}, decision, decided_);
            if (admitted) {
                accept_admission(decision, charges);
                return Next::forward;
            }
            limits::count_refusal(charges.view(), decision);
            refuse(charges, decision);
            return Next::reply;
        }
    }
    line_up(charges, facts);
    const auto entered = queued_->queue().enter(*queued_, decided_);
    if (entered == limits::AdmissionQueue::Entered::waiting)
        return Next::wait;
    const std::unique_ptr<QueuedRequest> queued = std::move(queued_);
    return settle_turn(*queued, decided_) ? Next::forward : Next::reply;
}

void Exchange::line_up(const routing::Charges& charges, const routing::KeyFacts& facts) {
    queued_ = std::make_unique<QueuedRequest>(context_.wakeups);
    queued_->charges.assign(charges.view().begin(), charges.view().end());
    queued_->asked = charges;
    for (const routing::RouteLimit* const each : charges.limits) {
        limits::WaitTerms& terms = queued_->terms.emplace_back();
        if (const routing::Key key = each->key.evaluate(facts, context_.key_scratch);
            !each->key.empty() && !key.missing)
            terms.key = key.text;
        if (!each->wait)
            continue;
        terms.waits = true;
        terms.max_wait = each->wait->max_wait;
        terms.max_waiting = each->wait->max_waiting;
        terms.flow = each->wait->fair_by.evaluate(facts, context_.key_scratch).hash;
    }
}

// Waits until nothing is left to wait for. True: the request has been sent. False: it is to be sent
// slowly, or next_ says that it is refused.
net::Task<bool> Exchange::wait_to_send() {
    bool sent = false;
    while (next_ != Next::forward && next_ != Next::reply) {
        if (next_ == Next::wait_endpoint) {
            const Next next = co_await wait_for_endpoint();
            next_ = next;
        } else if (next_ == Next::wait_cooldown) {
            const Next next = co_await wait_out_pause();
            next_ = next;
        } else {
            const bool admitted = co_await wait_for_turn();
            next_ = admitted ? Next::forward : Next::reply;
        }
        if (next_ == Next::forward)
            sent = send_at_once();
    }
    co_return sent;
}

// Notes the end of a wait that began with the last decision, or later. Returns its length.
Duration Exchange::note_wait() {
    const Duration waited = net::read_steady_clock() - decided_.steady;
    decided_ = {decided_.steady + waited, decided_.wall + waited};
    waited_ += waited;
    return waited;
}

// Waits in the admission queue. Watches the client meanwhile, but does not read its body. Always
// ends: with the decision, or when the exchange is aborted.
net::Task<bool> Exchange::wait_for_turn() {
    watch_client();
    while (!queued_->is_over)
        co_await queued_->over.wait();
    downstream_.poll_peer_close();
    co_return finish_wait();
}

bool Exchange::finish_wait() {
    const std::unique_ptr<QueuedRequest> queued = std::move(queued_);
    const Duration waited = note_wait();
    if (abort_reason_ != AbortReason::no)
        return false; // ~QueuedRequest() refunds its permit
    const routing::RouteLimit& limit = *queued->asked.limits[queued->waited_for];
    observe::WaitCounters& counters = context_.counters.waits[limit.wait->metric];
    const bool admitted = settle_turn(*queued, decided_);
    if (admitted)
        counters.time.observe(waited);
    else
        ++counters.refused;
    if (admitted && route_->answer != nullptr) {
        respond();
        return false;
    }
    if (admitted)
        write_request_head(*context_.parser.parse_request(head_)); // it was good the first time
    return admitted;
}

bool Exchange::settle_turn(QueuedRequest& queued, const Now& now) {
    limits::Decision& decision = queued.decision;
    const auto& limits = queued.asked.limits;
    if (route_->telling.any)
        rate_limit_headers_.note_turn(
            {queued.charges.data(), queued.charges.size()}, {limits.data(), limits.size()},
            decision, now);
    const bool admitted = decision.allowed();
    if (admitted)
        accept_admission(decision, queued.asked);
    else
        refuse(queued.asked, decision);
    return admitted;
}

} // namespace stint::proxy
