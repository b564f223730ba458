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
        granted, // every enforced charge is made
        refused, // no charge is made
        failed   // the store did not answer: no charge is made, now or later
    };

    Outcome outcome = Outcome::failed;
    Refusal refusal = Refusal::window; // if refused
    std::size_t refused_by = 0;        // if refused: as Decision::refused_by
    Duration retry_after{};            // if refused: as Decision::retry_after
    std::uint32_t refusing = 0;        // if refused: as Decision::refusing
    std::uint32_t would_refuse = 0;    // if granted: as Decision::would_refuse
    // The state of each charge's counter after the decision; empty if the store does not report it.
    boost::container::small_vector<CounterState, 2> counters;
};

// A granted charge, or a part of it, to give back. `limit` is valid during the call.
struct SharedGrant {
    std::uint64_t number = 0; // the request's number, as in SharedCounters::charge()
    std::size_t index = 0;    // among its charges
    Limit* limit = nullptr;
    Hash128 key{};
    std::uint64_t cost = 0; // the cost to give back
};

// A client of the store. Its functions are never called with a lock of limits/ held.
class SharedCounters {
  public:
    // Asks the store for the charges of a request: all are granted or none. Each call is answered
    // once, by SharedCharges::answer() on the same thread, during the call or later, also after
    // cancel(). A client that does not know whether the store charged the request (after a broken
    // connection, say) undoes it at the store and answers `failed`. number: unique in this process.
    // answer_by: a later answer is of no use. charges: valid during the call.
    virtual void charge(
        std::uint64_t number,
        std::span<const Charge> charges,
        SteadyTime answer_by,
        const Now& now) noexcept = 0;
    // Tells that nothing waits for the answer any more: a request that was not sent yet need not be
    // sent. Thread: that of charge().
    virtual void cancel(std::uint64_t number) noexcept = 0;
    // Gives a granted slot back, or a granted charge in part or whole, at most its cost. May be
    // done later: no caller waits for it. Any thread.
    virtual void give_back(const SharedGrant& grant) noexcept = 0;

  protected:
    ~SharedCounters() = default;
};

} // namespace stint::limits
