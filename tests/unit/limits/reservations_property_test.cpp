// Random histories: a client that holds a slot and comes in time is admitted, whatever others do.
#include "fixture.hpp"
#include "limits/reservation/reservations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

struct Holder {
    SteadyTime comes;
    std::uint64_t ticket; // 0: it comes back by its client
    Hash128 client;
    std::uint64_t cost;
};

class History {
  public:
    explicit History(std::uint64_t seed)
        : random_{seed}, per_{1ms * (100 + below(20'000))}, quota_{1 + below(12)},
          anchor_{below(2) == 0 ? Anchor::first_request : Anchor::clock},
          limit_{below(2) == 0 ? window(per_, anchor_) : keyed_window(per_, 10, anchor_)} {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            const SteadyTime next =
                now_.steady + Duration{static_cast<std::int64_t>(
                                  below(static_cast<std::uint64_t>(per_.count()) / quota_ + 1))};
            const auto first = std::ranges::min_element(holders_, {}, &Holder::comes);
            const bool holder = first != holders_.end() && first->comes <= next;
            move_to(holder ? std::max(first->comes, now_.steady) : next);
            if (!holder) {
                newcomer();
                continue;
            }
            const Holder back = *first;
            holders_.erase(first);
            REQUIRE(ask(back.client, back.ticket, back.cost).allowed());
            ++came_back;
        }
    }

    int came_back = 0;
    int admitted_at_once = 0;

  private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    void move_to(SteadyTime steady) { now_ = {steady, now_.wall + (steady - now_.steady)}; }

    void newcomer() {
        const std::uint64_t cost = below(3) == 0 ? 1 + below(quota_) : 1;
        const Hash128 client = key(++clients_);
        const Decision decision = ask(client, 0, cost);
        if (decision.allowed()) {
            ++admitted_at_once;
            return;
        }
        REQUIRE(slot_ != 0);
        const SteadyTime told = now_.steady + decision.retry_after;
        REQUIRE(told >= end_);
        const auto late = Duration{static_cast<std::int64_t>(
            below(static_cast<std::uint64_t>(SlotLedger::grace.count()) + 1))};
        if (below(5) != 0) // others never come back
            holders_.push_back({told + late, below(2) == 0 ? slot_ : 0, client, cost});
    }

    // Also counts for itself what each window has admitted.
    Decision ask(Hash128 client, std::uint64_t ticket, std::uint64_t cost) {
        std::array charges{Charge{.limit = &limit_, .key = key(0), .quota = quota_, .cost = cost}};
        std::array reserving{Reservation{.client = client, .ticket = ticket}};
        end_ = limit_.window_end(charges[0], now_);
        Decision decision = admit_reserving(charges, reserving, now_);
        slot_ = reserving[0].slot;
        if (decision.allowed()) {
            used_ = (end_ == used_until_ ? used_ : 0) + cost;
            used_until_ = end_;
            REQUIRE(used_ <= quota_);
        }
        return decision;
    }

    std::mt19937_64 random_;
    Duration per_;
    std::uint64_t quota_;
    Anchor anchor_;
    Limit limit_;
    Now now_ = start;
    std::vector<Holder> holders_;
    std::uint64_t clients_ = 0;
    std::uint64_t slot_ = 0;
    SteadyTime end_{};
    SteadyTime used_until_{};
    std::uint64_t used_ = 0;
};

} // namespace

TEST_CASE("a client with a slot that comes in time is admitted, and no window admits too many") {
    int came_back = 0;
    int admitted_at_once = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        History history{seed};
        history.run(1500);
        came_back += history.came_back;
        admitted_at_once += history.admitted_at_once;
    }
    CHECK(came_back > 10'000);
    CHECK(admitted_at_once > 10'000); // what is not held is used as well
}
