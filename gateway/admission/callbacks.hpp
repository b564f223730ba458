// Callbacks of an admission decision. Each entry point (admission/door.hpp) implements them to
// count, record and queue requests in its own way.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/queue/waiter.hpp"
#include "routing/charges.hpp"
#include "routing/route.hpp"

#include <boost/container/small_vector.hpp>

#include <span>

namespace stint::admission {

// For each charge, the conditions on which its limit lets the request wait, and its key's text.
using WaitTermsList = boost::container::small_vector<limits::WaitTerms, limits::few_charges>;

// A request that waits in the admission queue, and the charges that it waits for.
class QueuedCharges : public limits::Waiter {
  public:
    using Waiter::Waiter;

    // Keeps the charges, each with its limit as the route applies it, for the time of the wait.
    // terms: one for each charge. Throws std::bad_alloc.
    void ask(const routing::Charges& asked, const WaitTermsList& terms_of) {
        charges.assign(asked.charges.begin(), asked.charges.end());
        terms = terms_of;
        limits_.assign(asked.limits.begin(), asked.limits.end());
    }
    // Returns the limit of each charge.
    [[nodiscard]] std::span<const routing::AppliedLimit> limits() const noexcept {
        return {limits_.data(), limits_.size()};
    }
    // Returns the charges as ask() has got them; none is denied.
    [[nodiscard]] routing::Charges asked() const {
        routing::Charges made;
        made.charges.assign(charges.begin(), charges.end());
        made.limits.assign(limits_.begin(), limits_.end());
        return made;
    }

  protected:
    ~QueuedCharges() = default;

  private:
    // Few, as every request that waits has this object.
    boost::container::small_vector<routing::AppliedLimit, limits::few_charges> limits_;
};

// Listens for the answers to a request that waits for larger shares of limits that gateways share.
class ShareAnswerListener {
  public:
    // Called when the stores are about to be asked: the request waits for shares_answered(), but no
    // longer than until answer_by.
    virtual void shares_asked(SteadyTime /*answer_by*/) {}
    // Called when all stores have answered, or one of them has failed. The callee must not resume
    // the request within the call, but may destroy it.
    virtual void shares_answered() noexcept {}

  protected:
    ~ShareAnswerListener() = default;
};

// The callbacks of one request. Each function does nothing unless an entry point
// (admission/door.hpp) overrides it. The KeyObserver part gets the keys that the request is counted
// by.
class Callbacks : public routing::KeyObserver, public ShareAnswerListener {
  public:
    // Called before the limits of the request's route are asked; concerns() and counts() follow
    // with the keys.
    virtual void begin(const routing::Route&, const Now&) {}
    bool concerns(routing::AppliedLimit, const routing::Key&) noexcept override { return true; }
    void counts(routing::AppliedLimit, const routing::Key&) noexcept override {}

    virtual void exempt(routing::AppliedLimit) noexcept {}
    // The arguments: the refusing limit, the key of its charge, and its retry_after without jitter.
    virtual void refused(routing::AppliedLimit, Hash128, Duration) noexcept {}
    virtual void denied(routing::AppliedLimit) noexcept {}
    virtual void fence_rejected(const routing::Route&) noexcept {}
    // The limit is not enforced. The Hash128 is the key of its charge.
    virtual void would_refuse(routing::AppliedLimit, Hash128) noexcept {}
    // The limit is not enforced, and would have let the request wait.
    virtual void would_wait(routing::AppliedLimit) noexcept {}
    virtual void table_full(routing::AppliedLimit) noexcept {}    // new keys go to its sketch
    virtual void cost_exceeded(routing::AppliedLimit) noexcept {} // above the reserve
    virtual void permit_used() noexcept {}                        // a presented permit has paid
    virtual void permit_unknown() noexcept {} // a presented permit pays for none of the charges
    // Called after the request's wait in the queue before this limit. The Duration is the time
    // waited.
    virtual void waited(routing::AppliedLimit, bool /*admitted*/, Duration) noexcept {}

    // Returns the Retry-After for the client: the limit's `retry_after` plus a random part of
    // `most`.
    [[nodiscard]] virtual Duration with_jitter(Duration retry_after, Duration /*most*/) noexcept {
        return retry_after;
    }

    // The queue of the requests that wait for their limits.
    [[nodiscard]] virtual limits::AdmissionQueue& queue() noexcept = 0;
    // Makes the request's waiter. The implementation owns it until drop_queued().
    [[nodiscard]] virtual QueuedCharges& make_queued() = 0;
    virtual void drop_queued() noexcept = 0;

  protected:
    ~Callbacks() = default;
};

} // namespace stint::admission
