// One request's charges to limits that gateways share: asked for after its other limits have
// admitted it.
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

// Refers to the request's configuration. What was granted and not taken goes back when it ends.
class SharedAdmission final : private limits::SharedCharges::Request {
  public:
    // Takes the charges of shared limits out of `charges`, and has those that stay refunded if need
    // be. Null if there are none.
    [[nodiscard]] static std::unique_ptr<SharedAdmission>
    take_from(routing::Charges& charges, SharedAnswerListener& listener);

    [[nodiscard]] const routing::Charges& charges() const noexcept { return charges_; }
    // The request's index of the first charge, for its permit: behind all that were not taken.
    [[nodiscard]] std::size_t first() const noexcept { return first_; }

    ~SharedAdmission();

    // The slots that the request's other limits let it claim. Kept by keep_slots() alone.
    [[nodiscard]] limits::ClaimedSlots& slots() noexcept { return slots_; }
    // The request is admitted.
    void keep_slots() noexcept { slots_.keep(); }

    // Asks the store, and keeps the permit of the request's other charges until decide(). True if
    // there is an answer; else the SharedAnswerListener hears of the wait, and of its end. May be
    // asked again after a refusal.
    [[nodiscard]] bool ask(limits::SharedCharges& store, limits::Permit& others, const Now& now);
    // Sets what every charge costs when the store is asked next.
    void set_cost(std::uint64_t cost) noexcept;
    // Gives everything back that is not handed over, that permit's charges and the slots included.
    // The destructor does so at the latest time that the store's other requests have told.
    void give_up(const Now& now) noexcept;

    // The outcome of the charges.
    struct Result {
        limits::Decision decision;  // its permit: that of ask(), and what is admitted by this
        bool without_store = false; // refused only because the store has not answered
        // The counters after the decision; empty where they are not known.
        boost::container::static_vector<limits::ChargeState, limits::max_charges> states;
    };
    // Decides by the answer, or as each limit's SharedTerms say if there was none. Call once after
    // each answer.
    [[nodiscard]] Result decide(const Now& now);

  private:
    explicit SharedAdmission(SharedAnswerListener& listener) noexcept : listener_{listener} {}

    void answered() noexcept override;
    [[nodiscard]] Result by_answer() const;
    [[nodiscard]] Result without_store(const Now& now);

    SharedAnswerListener& listener_;
    routing::Charges charges_;
    std::size_t first_ = 0;
    limits::SharedCharges* store_ = nullptr; // until decide() or give_up()
    limits::Permit others_;
    limits::ClaimedSlots slots_;
};

} // namespace stint::admission
