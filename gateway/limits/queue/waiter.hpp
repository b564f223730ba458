// One request that may wait for its turn before its limits, and the mailbox for its decision.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/limit.hpp"
#include "limits/queue/fair_queue.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stint::limits {

class Mailbox;
class CounterQueue;

// A limit's wait settings from the configuration.
struct WaitTerms {
    bool waits = false;            // when_exceeded: wait
    Duration max_wait{};           // from the request's arrival
    std::uint64_t max_waiting = 0; // the most in the queue before one counter
    Hash128 flow{};                // fair_by: the flow that the request belongs to
    // The text of the charge's key, also for a limit that does not wait; nothing without a key.
    std::optional<std::string> key{};
};

// Returns the quota and burst that a changed configuration gives to a key. key: as WaitTerms::key.
using NumbersOf = std::function<Numbers(const std::optional<std::string>& key)>;

using ByDeadline = boost::intrusive::set_base_hook<boost::intrusive::tag<struct ByDeadlineTag>>;
using InMailbox = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct InMailboxTag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// A request before or in the AdmissionQueue, owned by that request. Call AdmissionQueue::leave()
// before destroying it; its limits must live until then. From enter() to collect() or leave(), its
// contents belong to the queue.
class Waiter : public FairQueue::Item, public ByDeadline, public InMailbox {
  public:
    explicit Waiter(Mailbox& owner) : mailbox_{owner} {}

    // The charges for admit(), and the wait terms of each charge's limit. Filled in before enter().
    boost::container::small_vector<Charge, few_charges> charges;
    boost::container::small_vector<WaitTerms, few_charges> terms;

    // When the request began to wait, in a process that this one has replaced; the epoch: it did
    // not. max_wait counts from then. Set before enter().
    SteadyTime waiting_since{};
    // False: if the request has to wait, it is refused as if the queue were full. Set before
    // enter().
    bool may_wait = true;

    // The queue's decision. A refusal's `retry_after` allows for the requests that still wait.
    Decision decision;
    // Index of the charge whose limit the request waited for last. Valid only if the request has
    // waited.
    std::size_t waited_for = 0;

  private:
    friend class CounterQueue;
    friend class AdmissionQueue;

    enum class State : std::uint8_t { outside, standing, decided };

    Mailbox& mailbox_;
    CounterQueue* line_ = nullptr;
    SteadyTime deadline_{};
    std::uint64_t arrival_ = 0;
    State state_ = State::outside;
};

using Waiters = boost::intrusive::list<
    Waiter,
    boost::intrusive::base_hook<InMailbox>,
    boost::intrusive::constant_time_size<false>>;

// The decided waiters of one worker.
class Mailbox : public boost::intrusive::list_base_hook<> {
  public:
    Mailbox() = default;
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    // Called when there are decided waiters to collect, and not again before collect(). Any thread,
    // with the queue's lock held: must not call the queue. Not called while none of the mailbox's
    // waiters is in the queue.
    virtual void notify() noexcept = 0;

  protected:
    ~Mailbox() = default;

  private:
    friend class AdmissionQueue;

    Waiters decided_;
    bool rung_ = false;
};

} // namespace stint::limits
