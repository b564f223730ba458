// Counters that several gateways share, in a store that may answer later or not at all: the
// interface that a client of such a store implements.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace stint::limits {

// The store's answer to the shared charges of one request.
struct SharedAnswer {
    enum class Outcome : std::uint8_t {
        granted, // all that are enforced are charged
        refused, // none is
        failed   // the store did not answer: nothing is charged, or will be
    };

    Outcome outcome = Outcome::failed;
    Refusal refusal = Refusal::window; // if refused
    std::size_t refused_by = 0;        // if refused: as Decision::refused_by
    Duration retry_after{};            // if refused: as Decision::retry_after
    std::uint32_t refusing = 0;        // if refused: as Decision::refusing
    std::uint32_t would_refuse = 0;    // if granted: as Decision::would_refuse
    // One for each charge, after the decision; or none, where the store does not tell.
    boost::container::small_vector<CounterState, 2> counters;
};

// One granted charge. The pointer is valid during the call.
struct SharedGrant {
    std::uint64_t number = 0; // the request's, as in SharedCounters::charge()
    std::size_t index = 0;    // among its charges
    Limit* limit = nullptr;
    Hash128 key{};
    std::uint64_t cost = 0; // that is given back
};

// Never called with a lock of limits/ held.
class SharedCounters {
  public:
    // Posts the charges of a request: all are granted or none. Each call is answered once, by
    // SharedCharges::answer() on the same thread, during the call or later, also after cancel(). A
    // client that does not know whether the store charged the request (its connection broke, say)
    // undoes it at the store and answers `failed`. number: no other request of this process has it.
    // answer_by: a later answer is of no use. charges: valid during the call.
    virtual void charge(
        std::uint64_t number,
        std::span<const Charge> charges,
        SteadyTime answer_by,
        const Now& now) noexcept = 0;
    // Tells that no one waits for the answer any more; a request that was not sent need not be.
    // Thread: charge()'s.
    virtual void cancel(std::uint64_t number) noexcept = 0;
    // Gives back what was granted: a slot, or a part of a charge or all of it. No more of a charge
    // than it cost. Any thread; it may be done later: nothing waits for it.
    virtual void give_back(const SharedGrant& grant) noexcept = 0;

  protected:
    ~SharedCounters() = default;
};

} // namespace stint::limits
