#include "limits/reservation/reservations.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>

namespace stint::limits {

namespace {

constexpr Duration between_sweeps = std::chrono::seconds{1};

} // namespace

std::size_t Reservations::out(SteadyTime now) {
    const std::lock_guard lock{mutex_};
    next_sweep_ = {};
    sweep(now);
    return out_;
}

// Drops the counter's slots that are over. Returns its ledger, or nullptr if it has no slots left.
SlotLedger* Reservations::ledger_of(Hash128 key, SteadyTime now) noexcept {
    const auto found = ledgers_.find(key);
    if (found == ledgers_.end())
        return nullptr;
    out_ -= found->second.forget(now);
    if (!found->second.slots().empty())
        return &found->second;
    ledgers_.erase(found);
    return nullptr;
}

std::uint64_t
Reservations::give(Hash128 key, const SlotLedger::Slot& slot, SteadyTime now) noexcept {
    if (out_ >= most_slots)
        sweep(now);
    if (out_ >= most_slots)
        return 0;
    Ledgers::iterator ledger;
    try {
        ledger = ledgers_.try_emplace(key).first;
    } catch (const std::bad_alloc&) {
        return 0;
    }
    if (!ledger->second.give(last_number_ + 1, slot)) {
        if (ledger->second.slots().empty())
            ledgers_.erase(ledger);
        return 0;
    }
    ++out_;
    given_.fetch_add(1, relaxed);
    return ++last_number_;
}

void Reservations::take(Hash128 key, std::uint64_t number) noexcept {
    const auto ledger = ledgers_.find(key);
    if (ledger == ledgers_.end() || !ledger->second.slots().contains(number))
        return;
    ledger->second.take(number);
    --out_;
    if (ledger->second.slots().empty())
        ledgers_.erase(ledger);
}

// Drops all slots that are over, and ledgers without slots. Does nothing within `between_sweeps`
// after the last sweep.
void Reservations::sweep(SteadyTime now) noexcept {
    if (now < next_sweep_)
        return;
    next_sweep_ = now + between_sweeps;
    for (auto ledger = ledgers_.begin(); ledger != ledgers_.end();) {
        out_ -= ledger->second.forget(now);
        ledger = ledger->second.slots().empty() ? ledgers_.erase(ledger) : std::next(ledger);
    }
}

// The admission of one request. Keeps the Reservations of all its reserving limits locked while it
// exists.
class ReservingAdmission {
  public:
    ReservingAdmission(std::span<Charge> charges, std::span<Reservation> reserving, const Now& now)
        : charges_{charges}, came_{now.steady}, now_{now} {
        assert(reserving.size() <= max_charges);
        for (Reservation& each : reserving) {
            assert(each.charge < charges.size());
            Charge& charge = charges[each.charge];
            Place& place = places_[count_++];
            place = {&each, &charge, &charge.limit->reservations()};
            place.key = charge.limit->keyed() ? charge.key : Hash128{};
            place.of->mutex_.lock();
        }
        keep_time();
        for (Place& place : places())
            look_at(place);
    }
    ReservingAdmission(const ReservingAdmission&) = delete;
    ReservingAdmission& operator=(const ReservingAdmission&) = delete;
    ~ReservingAdmission() {
        while (count_ > 0)
            places_[--count_].of->mutex_.unlock();
    }

    Decision decide(std::span<ChargeState> states) {
        Decision decision = try_admit(charges_, now_, states);
        if (decision.allowed())
            claim();
        else if (gets_slots(decision))
            give(decision);
        return decision;
    }

    // Decides like decide(), but charges, claims and gives nothing.
    Decision preview(std::span<ChargeState> states) {
        Decision decision = limits::preview(charges_, now_, states);
        if (gets_slots(decision))
            decision.retry_after = next_slots().at - came_;
        return decision;
    }

  private:
    struct Place {
        Reservation* asked = nullptr;
        Charge* charge = nullptr;
        Reservations* of = nullptr;
        Hash128 key{};                // the counter's key
        SlotLedger* ledger = nullptr; // nullptr: no slots held
        std::uint64_t own = 0;   // number of the request's slot, which may be for later; 0: none
        std::uint64_t quota = 0; // the charge's, or the counter's share of it
        SteadyTime end{};        // end of the open window, or of the one that the charge would open
    };
    // The slots for a refused request: one in each reserving limit, all at one instant.
    struct NextSlots {
        SteadyTime at{};
        bool kept = false; // the request holds them already
    };

    [[nodiscard]] std::span<Place> places() noexcept { return std::span{places_}.first(count_); }
    // Returns true if the refused request may get slots: a limit that reserves refuses it because
    // of its window, and its cost fits into a whole window of each limit that reserves.
    [[nodiscard]] bool gets_slots(const Decision& decision) noexcept {
        const auto fits = [](const Place& place) { return place.charge->cost <= place.quota; };
        return decision.refusal == Refusal::window &&
               std::ranges::any_of(
                   places(),
                   [&](const Place& place) {
                       return place.asked->charge == decision.refused_by;
                   }) &&
               std::ranges::all_of(places(), fits); // a larger cost never fits
    }

    // Sets now_ to the latest time that these limits have seen: workers may lock in another order
    // than they read their clocks, and a slot once over must stay over.
    void keep_time() noexcept {
        SteadyTime latest = now_.steady;
        for (const Place& place : places())
            latest = std::max(latest, place.of->latest_);
        for (const Place& place : places())
            place.of->latest_ = latest;
        now_ = {latest, now_.wall + (latest - now_.steady)};
    }

    void look_at(Place& place) noexcept {
        place.asked->slot = 0;
        place.ledger = place.of->ledger_of(place.key, now_.steady);
        place.end = place.charge->limit->window_end(*place.charge, now_);
        place.charge->reserved_for_others = 0;
        place.quota = numbers_of(*place.charge, now_).quota;
        if (place.ledger == nullptr)
            return;
        const std::uint64_t held = place.ledger->held_before(place.end);
        place.own = place.ledger->slots().contains(place.asked->ticket)
                        ? place.asked->ticket
                        : place.ledger->claimable_by(place.asked->client, now_.steady);
        const SlotLedger::Slot* const own = slot_of(place);
        if (own == nullptr || !own->claimable(now_.steady))
            place.charge->reserved_for_others = held;
        else if (own->cost < place.charge->cost)
            place.charge->reserved_for_others = held - own->cost;
    }

    static const SlotLedger::Slot* slot_of(const Place& place) noexcept {
        return place.own != 0 ? &place.ledger->slots().at(place.own) : nullptr;
    }

    // Claims the slots of the admitted request. A request that came before its slot and was
    // admitted to free room no longer needs the slot either.
    void claim() noexcept {
        for (const Place& place : places())
            if (place.own != 0) {
                place.of->take(place.key, place.own);
                place.of->claimed_.fetch_add(1, Reservations::relaxed);
            }
    }

    void give(Decision& decision) noexcept {
        const NextSlots next = next_slots();
        for (const Place& place : places())
            place.asked->slot = next.kept ? place.own : exchange(place, next.at);
        decision.retry_after = next.at - came_;
    }

    [[nodiscard]] NextSlots next_slots() noexcept {
        if (const SteadyTime kept = kept_instant(); kept != SteadyTime{})
            return {kept, true};
        NextSlots next;
        for (const Place& place : places())
            next.at = std::max(next.at, next_at(place));
        return next;
    }

    // Returns the instant of the slots that the request already holds, if it can keep them: it has
    // one in each limit that reserves, all at the same future instant and large enough. Otherwise
    // returns SteadyTime{}: the request needs other slots.
    SteadyTime kept_instant() noexcept {
        SteadyTime kept{};
        for (const Place& place : places()) {
            const SlotLedger::Slot* const own = slot_of(place);
            if (own == nullptr || own->at <= now_.steady || own->cost < place.charge->cost ||
                (kept != SteadyTime{} && kept != own->at))
                return {};
            kept = own->at;
        }
        return kept;
    }

    static SteadyTime next_at(const Place& place) noexcept {
        const Charge& charge = *place.charge;
        return place.ledger == nullptr
                   ? place.end
                   : place.ledger->next_at(
                         place.end, charge.cost, place.quota, charge.limit->identity().per);
    }

    // Exchanges the request's slot, if any, for one at `at`. Returns the new slot's number; 0 if
    // none is given, and the request keeps its own.
    std::uint64_t exchange(const Place& place, SteadyTime at) noexcept {
        const Charge& charge = *place.charge;
        const Hash128 client = place.asked->client;
        if (place.ledger != nullptr) {
            const SlotLedger::Slot* const own = slot_of(place);
            const std::uint64_t back = own != nullptr && own->client == client ? own->cost : 0;
            if (place.ledger->cost_of(client) - back + charge.cost > place.quota)
                return 0;
        }
        const std::uint64_t given =
            at - now_.steady <= Reservations::farthest
                ? place.of->give(place.key, {at, charge.cost, client}, now_.steady)
                : 0;
        if (given == 0)
            place.of->missed_.fetch_add(1, Reservations::relaxed);
        else if (place.own != 0)
            place.of->take(place.key, place.own);
        return given;
    }

    std::span<Charge> charges_;
    const SteadyTime came_;
    Now now_;
    std::array<Place, max_charges> places_;
    std::size_t count_ = 0;
};

Decision admit_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states) {
    Decision decision = ReservingAdmission{charges, reserving, now}.decide(states);
    if (!decision.allowed())
        count_refusal(charges, decision);
    return decision;
}

Decision preview_reserving(
    std::span<Charge> charges,
    std::span<Reservation> reserving,
    const Now& now,
    std::span<ChargeState> states) {
    return ReservingAdmission{charges, reserving, now}.preview(states);
}

} // namespace stint::limits
