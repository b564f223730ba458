// One request that may wait for its turn before its limits, and the way back to who asked.
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

// What the configuration says of waiting for a limit.
struct WaitTerms {
    bool waits = false;            // when_exceeded: wait
    Duration max_wait{};           // from the request's arrival
    std::uint64_t max_waiting = 0; // in the line before one counter
    Hash128 flow{};                // fair_by: whose turns it shares
    // The text of the charge's key, whether the limit waits or not; nothing where there is none.
    std::optional<std::string> key{};
};

// The numbers of a key, as WaitTerms has it, after a change of the configuration.
using NumbersOf = std::function<Numbers(const std::optional<std::string>& key)>;

using ByDeadline = boost::intrusive::set_base_hook<boost::intrusive::tag<struct ByDeadlineTag>>;
using InMailbox = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct InMailboxTag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Owned by whoever waits: it must have left the room (AdmissionQueue::leave) before it ends, and so
// must its limits live until then. Between enter() and the moment when it is collected or has left,
// everything in it belongs to the room.
class Waiter : public FairQueue::Item, public ByDeadline, public InMailbox {
  public:
    explicit Waiter(Mailbox& owner) : mailbox_{owner} {}

    // What admit() gets, and the terms of each charge's limit. Filled in before enter().
    boost::container::small_vector<Charge, 4> charges;
    boost::container::small_vector<WaitTerms, 4> terms;

    // The answer. For a refusal `retry_after` allows for those who still wait.
    Decision decision;
    // Index of the charge whose limit it has waited for last. Only if it has waited.
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

// Where a worker finds those of its waiters that have been decided.
class Mailbox : public boost::intrusive::list_base_hook<> {
  public:
    Mailbox() = default;
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    // Something is to be collected: called once until it has been. Any thread, with the room's lock
    // held: it must not call back. Nobody calls it while none of its waiters is in the room.
    virtual void notify() noexcept = 0;

  protected:
    ~Mailbox() = default;

  private:
    friend class AdmissionQueue;

    Waiters decided_;
    bool rung_ = false;
};

} // namespace stint::limits
