// Previews before limits that reserve, in random histories: each answers what admit_reserving()
// then answers, and limits that are previewed go on like twins that are not.
#include "limits/counter/tally.hpp"
#include "random_history.hpp"
#include "reserving_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// One request, the same before the limits of each of the twins.
struct ReservingWish {
    struct Part {
        std::size_t limit;
        std::uint64_t key;
        std::uint64_t cost;
    };
    std::vector<Part> parts;
    std::vector<Reservation> reserving;
};

struct ReservingAnswer {
    model::Outcome outcome;
    std::uint32_t refusing = 0;
    std::vector<std::uint64_t> held; // for others, by charge
    std::vector<Refusal> refusals;   // by charge

    friend bool operator==(const ReservingAnswer&, const ReservingAnswer&) = default;
};

struct ReservingSpec {
    LimitSpec spec;
    Settings numbers;
    bool reserves = false;
    bool enforce = true;
};

class ReservingTwin {
  public:
    explicit ReservingTwin(const std::vector<ReservingSpec>& specs) : specs_{specs} {
        for (const ReservingSpec& each : specs)
            limits_.push_back(std::make_unique<Limit>(each.spec));
    }

    ReservingAnswer preview(const ReservingWish& wish, const Now& now) {
        ReservingRequest request = request_for(wish);
        const Decision decision = request.preview(now);
        REQUIRE_FALSE(decision.permit.holds_slots());
        for (const Reservation& each : request.reserving)
            REQUIRE(each.slot == 0);
        return answer_of(decision, request);
    }
    // Fills in the slots that were given.
    ReservingAnswer
    admit(const ReservingWish& wish, const Now& now, std::vector<std::uint64_t>& slots) {
        ReservingRequest request = request_for(wish);
        Decision decision = request.admit(now);
        for (const Reservation& each : request.reserving)
            slots.push_back(each.slot);
        const ReservingAnswer answer = answer_of(decision, request);
        if (decision.permit.holds_slots())
            held_.push_back(std::move(decision.permit));
        return answer;
    }
    void release(const Now& now) {
        if (held_.empty())
            return;
        held_.front().release(now);
        held_.pop_front();
    }

    // All that a preview must leave as it is.
    std::vector<std::uint64_t> state(const Now& now) const {
        std::vector<std::uint64_t> all;
        for (std::size_t i = 0; i < limits_.size(); ++i) {
            const Limit& limit = *limits_[i];
            Reservations& slots = limit.reservations();
            for (std::uint64_t k = 0; k < 2; ++k) {
                const auto [used, remaining, resets_in] = limit.state_of(charge(i, k, 1), now);
                all.insert(
                    all.end(), {used, remaining, static_cast<std::uint64_t>(resets_in.count())});
            }
            all.insert(
                all.end(), {limit.refused(), limit.dry_run().would_refuse(), limit.in_flight(),
                            limit.live_keys(now), slots.out(now.steady), slots.given(),
                            slots.claimed(), slots.missed()});
        }
        return all;
    }

  private:
    [[nodiscard]] Charge charge(std::size_t limit, std::uint64_t of, std::uint64_t cost) const {
        const Settings& numbers = specs_[limit].numbers;
        return {
            .limit = limits_[limit].get(),
            .key = key(of),
            .quota = numbers.quota,
            .burst = numbers.burst,
            .cost = cost,
            .enforce = specs_[limit].enforce,
            .pace = numbers.pace};
    }
    ReservingRequest request_for(const ReservingWish& wish) {
        ReservingRequest request;
        for (const auto& [limit, of, cost] : wish.parts)
            request.charges.push_back(charge(limit, of, cost));
        request.reserving = wish.reserving;
        return request;
    }
    static ReservingAnswer answer_of(const Decision& decision, const ReservingRequest& request) {
        ReservingAnswer answer{model::outcome_of(decision), decision.refusing, {}, {}};
        for (std::size_t i = 0; i < request.charges.size(); ++i) {
            answer.held.push_back(request.charges[i].reserved_for_others);
            answer.refusals.push_back(request.states[i].refusal);
        }
        return answer;
    }

    const std::vector<ReservingSpec>& specs_;
    std::vector<std::unique_ptr<Limit>> limits_;
    std::deque<Permit> held_; // of plain caps
};

struct ReservingCount {
    int admitted = 0;
    int with_ticket = 0; // admitted
    int given = 0;
    int kept = 0;
    int refused = 0; // without a slot
};

class ReservingHistory {
  public:
    ReservingHistory(std::uint64_t seed, ReservingCount& count) : dice_{seed}, count_{count} {}

    void step() {
        const ReservingSpec& side = dice_.one_of(specs_);
        const bool cap = side.spec.identity.algorithm == Algorithm::concurrency;
        clocks_.move(dice_, cap ? Duration{100ms} : side.spec.identity.per, side.numbers.quota);
        if (dice_.one_in(6)) {
            limits_.release(now());
            twin_.release(now());
            return;
        }
        if (dice_.one_in(2))
            (void)preview(random_wish()); // of a request that does not come
        admit(random_wish());
    }

  private:
    [[nodiscard]] const Now& now() const { return clocks_.now(); }

    std::vector<ReservingSpec> random_specs() {
        std::vector<ReservingSpec> specs(1 + dice_.below(3));
        for (ReservingSpec& each : specs) {
            each.spec = random_limit(dice_, 2);
            each.numbers = random_settings(dice_);
            each.reserves = &each == specs.data() || dice_.one_in(2);
            each.enforce = each.reserves || !dice_.one_in(4);
            if (!each.reserves)
                continue;
            const bool clock = dice_.one_in(2);
            each.spec = keyed_window(
                1ms * static_cast<std::int64_t>(1 + dice_.below(10'000)), 10,
                clock ? Anchor::clock : Anchor::first_request);
            each.numbers.pace = false;
        }
        return specs;
    }
    ReservingWish random_wish() {
        ReservingWish wish;
        const Hash128 client = key(100 + dice_.below(3));
        const std::size_t ticket = dice_.below(tickets_.size());
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const ReservingSpec& spec = specs_[i];
            if (spec.reserves)
                wish.reserving.push_back(
                    {wish.parts.size(), client, dice_.one_in(2) ? tickets_[ticket][i] : 0});
            wish.parts.push_back(
                {i, dice_.below(2), dice_.one_in(2) ? 1 : random_cost(dice_, spec.numbers.quota)});
        }
        return wish;
    }

    ReservingAnswer preview(const ReservingWish& wish) {
        const auto before = limits_.state(now());
        ReservingAnswer answer = limits_.preview(wish, now());
        REQUIRE(limits_.state(now()) == before);
        return answer;
    }
    void admit(const ReservingWish& wish) {
        const ReservingAnswer preview = this->preview(wish);
        std::vector<std::uint64_t> slots;
        std::vector<std::uint64_t> slots_of_twin;

        const ReservingAnswer answer = limits_.admit(wish, now(), slots);

        REQUIRE(preview == answer);
        REQUIRE(answer == twin_.admit(wish, now(), slots_of_twin));
        REQUIRE(slots == slots_of_twin);
        const bool presented = wish.reserving[0].ticket != 0;
        const bool has_slot = std::ranges::any_of(slots, [](std::uint64_t slot) { return slot; });
        const bool kept = has_slot && slots[0] == wish.reserving[0].ticket;
        ++(answer.outcome.allowed() ? (presented ? count_.with_ticket : count_.admitted)
           : kept                   ? count_.kept
           : has_slot               ? count_.given
                                    : count_.refused);
        if (answer.outcome.allowed())
            return;
        clocks_.aim(Duration{answer.outcome.wait});
        auto& tickets = dice_.one_of(tickets_);
        for (std::size_t i = 0; i < slots.size(); ++i)
            tickets[wish.reserving[i].charge] = slots[i];
    }

    Dice dice_;
    Clocks clocks_{false};
    ReservingCount& count_;
    const std::vector<ReservingSpec> specs_ = random_specs();
    ReservingTwin limits_{specs_};
    ReservingTwin twin_{specs_}; // where no preview is taken
    std::array<std::array<std::uint64_t, 3>, 4> tickets_{};
};

} // namespace

TEST_CASE("a preview answers what admit_reserving() then answers, and changes nothing") {
    const auto count = run_counted<ReservingHistory, ReservingCount>(400, 400);
    if (!count)
        return;
    CHECK(count->admitted > 10'000);
    CHECK(count->with_ticket > 1'000);
    CHECK(count->given > 10'000);
    CHECK(count->kept > 1'000);
    CHECK(count->refused > 10'000);
}
