// The part of a decision that each door does itself: it counts, records and queues.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/queue/waiter.hpp"
#include "routing/charges.hpp"
#include "routing/route.hpp"

namespace stint::admission {

// A request that waits in the admission queue, and the charges that it waits for.
class QueuedCharges : public limits::Waiter {
  public:
    using Waiter::Waiter;

    routing::Charges asked; // as Waiter::charges, with their limits

  protected:
    ~QueuedCharges() = default;
};

// Hears of the store's answer to a request's shared charges.
class SharedAnswerListener {
  public:
    // The store has been asked, and the request waits. shared_answered() comes at answer_by at the
    // latest, if SharedCharges::expire() is called then.
    virtual void shared_asked(SteadyTime /*answer_by*/) {}
    // The store has answered a request that waits for it. The request must not be resumed within
    // the call, but may end.
    virtual void shared_answered() noexcept {}

  protected:
    ~SharedAnswerListener() = default;
};

// One per request. Each function does nothing unless a door overrides it. As a KeyObserver it sees
// the keys that the request is counted by.
class Callbacks : public routing::KeyObserver, public SharedAnswerListener {
  public:
    // Called before the limits of the request's route; keys follow.
    virtual void begin(const routing::Route&, const Now&) {}
    bool concerns(const routing::RouteLimit&, const routing::Key&) noexcept override {
        return true;
    }
    void counts(const routing::RouteLimit&, const routing::Key&) noexcept override {}

    virtual void exempt(const routing::RouteLimit&) noexcept {}
    // retry_after: the limit's, without jitter. key: the charge's.
    virtual void refused(const routing::RouteLimit&, Hash128, Duration) noexcept {}
    virtual void denied(const routing::RouteLimit&) noexcept {}
    virtual void fence_rejected(const routing::Route&) noexcept {}
    virtual void would_refuse(const routing::RouteLimit&) noexcept {}  // it is not enforced
    virtual void table_full(const routing::RouteLimit&) noexcept {}    // new keys share a sketch
    virtual void cost_exceeded(const routing::RouteLimit&) noexcept {} // more than was reserved
    virtual void permit_used() noexcept {}                             // a shown permit has paid
    virtual void permit_unknown() noexcept {} // a shown permit is not valid here
    // The request has waited in the queue before this limit.
    virtual void waited(const routing::RouteLimit&, bool /*admitted*/, Duration) noexcept {}

    // Returns the wait plus a random part of `most`, as the client gets it.
    [[nodiscard]] virtual Duration with_jitter(Duration retry_after, Duration /*most*/) noexcept {
        return retry_after;
    }

    // The queue of the requests that wait for their limits.
    [[nodiscard]] virtual limits::AdmissionQueue& queue() noexcept = 0;
    // Makes the request's waiter, which the door owns until drop_queued().
    [[nodiscard]] virtual QueuedCharges& make_queued() = 0;
    virtual void drop_queued() noexcept = 0;

  protected:
    ~Callbacks() = default;
};

} // namespace stint::admission
