// One request's charges on limits that gateways share. The store is asked after the request's other
// limits have admitted it.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/permit.hpp"
#include "limits/reservation/reservations.hpp"
#include "limits/shared/shared_charges.hpp"
#include "routing/charges.hpp"

#include <boost/container/static_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace stint::admission {

// Refers to the request's configuration snapshot. The destructor gives back what was granted and
// not taken by decide().
class SharedAdmission final : private limits::SharedCharges::Request {
  public:
    // Moves the charges of shared limits from `charges` into the result, and makes the remaining
    // charges refundable. Null if there are none to move.
    [[nodiscard]] static std::unique_ptr<SharedAdmission>
    take_from(routing::Charges& charges, SharedAnswerListener& listener);

    [[nodiscard]] const routing::Charges& charges() const noexcept { return charges_; }
    // The index of the first charge in the request's permit. The charges that take_from() left in
    // place come before.
    [[nodiscard]] std::size_t first() const noexcept { return first_; }

    ~SharedAdmission();

    // The reserved slots that the request has claimed at its other limits. Given back unless
    // keep_slots() is called.
    [[nodiscard]] limits::ClaimedSlots& slots() noexcept { return slots_; }
    // Keeps the claimed slots, because the request is admitted.
    void keep_slots() noexcept { slots_.keep(); }

    // Asks the store. Holds `others`, the permit of the request's other charges, until decide().
    // True if the answer is there at once. Otherwise the SharedAnswerListener is called at the
    // begin and at the end of the wait. May be called again after a refusal.
    [[nodiscard]] bool ask(limits::SharedCharges& store, limits::Permit& others, const Now& now);
    // Sets the cost of every charge for the next ask().
    void set_cost(std::uint64_t cost) noexcept;
    // Gives back everything that decide() has not returned: the shared charges, the charges in
    // `others` and the claimed slots. The destructor does the same, at the time
    // SharedCharges::latest().
    void give_up(const Now& now) noexcept;

    // The outcome of the charges.
    struct Result {
        limits::Decision decision;  // its permit: the one of ask(), and the charges granted here
        bool without_store = false; // refused only because the store has not answered
        // The counters after the decision; empty where they are not known.
        boost::container::static_vector<limits::ChargeState, limits::max_charges> states;
    };
    // Decides by the store's answer. If the store has failed, decides by each limit's SharedTerms.
    // Call once after each answer.
    [[nodiscard]] Result decide(const Now& now);

  private:
    explicit SharedAdmission(SharedAnswerListener& listener) noexcept : listener_{listener} {}

    void answered() noexcept override;
    [[nodiscard]] Result by_answer() const;
    [[nodiscard]] Result without_store(const Now& now);

    SharedAnswerListener& listener_;
    routing::Charges charges_;
    std::size_t first_ = 0;
    limits::SharedCharges* store_ = nullptr; // set from ask() until decide() or give_up()
    limits::Permit others_;
    limits::ClaimedSlots slots_;
};

} // namespace stint::admission
