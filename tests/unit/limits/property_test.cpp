// Admissions in random histories, over all that a limit can be at once, against the naive model.
#include "random_history.hpp"
#include "span_bounds.hpp"

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <map>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// A handful of limits; requests that count against some of them at some cost and with some key's
// own numbers; permits settled, refunded, released and dropped in any order; clocks that do
// anything.
class History {
  public:
    explicit History(std::uint64_t seed) : dice_{seed}, changing_{!dice_.one_in(4)} {
        const std::size_t count = 1 + dice_.below(6);
        for (std::size_t i = 0; i < count; ++i)
            add_limit();
    }

    void step() {
        const Side& side = dice_.one_of(sides_);
        clocks_.move(dice_, side.model.is_cap() ? Duration{100ms} : side.per(), side.numbers.quota);
        switch (dice_.below(10)) {
        case 0:
        case 1:
            give_back_one();
            break;
        case 2:
        case 3:
            end_one();
            break;
        case 4:
            if (dice_.one_in(2))
                change_share();
            else
                change_numbers();
            break;
        default:
            request();
            break;
        }
    }

    void check_states() const {
        for (const Side& side : sides_) {
            REQUIRE(side.limit->live_keys(now()) == side.model.live_keys(now()));
            for (std::uint64_t of = 0; of < keys; ++of) {
                REQUIRE(
                    state(*side.limit, now(), key(of), side.numbers.quota).used ==
                    side.model.used(of, side.numbers.quota, now()));
                REQUIRE(side.limit->share(key(of), now()).numbers == side.model.share(of, now()));
            }
        }
    }

    // Only where numbers never change: the model knows the rules, this their promise.
    void check_bounds() {
        for (Side& side : sides_)
            for (auto& [of, bounds] : side.bounds)
                REQUIRE(bounds.kept());
    }

    void end_all() {
        while (!held_.empty())
            end_one();
        for (const Side& side : sides_)
            REQUIRE(side.limit->in_flight() == 0);
    }

  private:
    static constexpr std::uint64_t keys = 12;

    struct Side {
        explicit Side(const LimitSpec& spec) : limit{std::make_unique<Limit>(spec)}, model{spec} {}
        [[nodiscard]] Duration per() const { return limit->identity().per; }

        std::unique_ptr<Limit> limit;
        model::LimitModel model;
        Settings numbers;
        bool enforce = true;
        std::map<std::uint64_t, SpanBounds> bounds{}; // by key, if they are to be kept
    };
    struct Held {
        Permit permit;
        model::PermitModel model;
        std::vector<std::size_t> sides;
        std::uint32_t returnable;
    };
    struct Request {
        std::vector<Charge> charges;
        std::vector<model::Asked> asked;
        std::vector<std::size_t> sides;
    };

    [[nodiscard]] const Now& now() const { return clocks_.now(); }

    void add_limit() {
        Side& side = sides_.emplace_back(random_limit(dice_, keys));
        side.numbers = random_settings(dice_);
        side.enforce = !dice_.one_in(6);
    }

    void change_numbers() {
        Side& side = dice_.one_of(sides_);
        side.limit->set_max_keys(keys + dice_.below(4));
        if (changing_)
            side.numbers = random_settings(dice_);
    }

    // Of one key: to anything, until some instant or as long as it is counted.
    void change_share() {
        Side& side = dice_.one_of(sides_);
        Share share{random_share(dice_, side.numbers)};
        if (dice_.one_in(3)) {
            share.until = now().steady + dice_.shorter_than(2 * side.per() + 50ms);
            clocks_.aim(share.until - now().steady);
        }
        const std::uint64_t of = dice_.below(keys);
        REQUIRE(side.limit->set_share(key(of), share, now()));
        side.model.set_share(of, share, now());
    }

    Request random_request() {
        Request made;
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            if (dice_.one_in(3))
                continue;
            Side& side = sides_[i];
            const Settings numbers =
                changing_ && dice_.one_in(5) ? random_settings(dice_) : side.numbers; // an override
            const std::uint64_t of = dice_.below(keys);
            const std::uint64_t cost = random_cost(dice_, numbers.quota);
            made.charges.push_back(
                {.limit = side.limit.get(),
                 .key = key(of),
                 .quota = numbers.quota,
                 .burst = numbers.burst,
                 .cost = cost,
                 .enforce = side.enforce,
                 .pace = numbers.pace,
                 .refundable = !dice_.one_in(3)});
            made.asked.push_back(
                {&side.model,
                 of,
                 {numbers.quota, numbers.burst, cost, numbers.pace},
                 side.enforce});
            made.sides.push_back(i);
        }
        return made;
    }

    void request() {
        Request made = random_request();
        std::array<ChargeState, max_charges> states;
        if (dice_.one_in(4)) {
            const Decision foreseen = preview(made.charges, now(), states);
            REQUIRE(model::outcome_of(foreseen) == model::judge(made.asked, now()));
        }

        Decision decision = limits::admit(made.charges, now(), states);

        const model::Outcome wanted = model::admit(made.asked, now(), charges_made_);
        REQUIRE(model::outcome_of(decision) == wanted);
        for (std::size_t i = 0; i < made.asked.size(); ++i) {
            const model::Asked& asked = made.asked[i];
            REQUIRE(states[i].counter.used == asked.limit->used(asked.key, asked.ask.quota, now()));
            REQUIRE(
                states[i].counter.remaining == asked.limit->remaining(asked.key, asked.ask, now()));
        }
        if (wanted.allowed())
            hold(std::move(decision.permit), made, wanted);
        else if (wanted.wait < model::ns(1'000h) && dice_.one_in(8))
            wait_for(made, wanted);
        else
            clocks_.aim(decision.retry_after);
    }

    // A nanosecond before the time is over it is still refused, then it is not.
    void wait_for(const Request& made, const model::Outcome& refused) {
        const std::size_t by = refused.refused_by;
        const LimitIdentity& limit = made.charges[by].limit->identity();
        if (refused.refusal == Refusal::cap || limit.anchor == Anchor::clock)
            return; // an estimate; or a wall clock that was put forward ends it before
        const model::Asked& one = made.asked[by];
        if (one.limit->lacks_share(one.key, one.ask) || one.limit->share_ends(one.key))
            return; // a larger share, or the end of this one, may come at any time
        const std::vector<model::Asked> asked{one};
        const auto still_to_wait = [&] {
            ChargeState state;
            const Decision foreseen = preview({&made.charges[by], 1}, now(), {&state, 1});
            REQUIRE(model::outcome_of(foreseen) == model::judge(asked, now()));
            return foreseen.retry_after;
        };
        clocks_.advance(Duration{refused.wait - 1});
        REQUIRE(still_to_wait() == 1ns);
        clocks_.advance(1ns);
        REQUIRE(still_to_wait() == 0ns);
    }

    void hold(Permit permit, const Request& made, const model::Outcome& outcome) {
        Held held{
            std::move(permit),
            {made.asked, charges_made_, outcome.would_refuse, now()},
            made.sides,
            0};
        charges_made_ += made.asked.size();
        for (std::size_t i = 0; i < made.asked.size(); ++i) {
            held.returnable |= made.charges[i].refundable ? std::uint32_t{1} << i : 0;
            if (held.model.charged(i) && !changing_)
                bounds_of(held, i).charge(held.model.first + i, made.asked[i].ask.cost, now());
        }
        if (!held.sides.empty())
            clocks_.aim(sides_[dice_.one_of(held.sides)].per());
        held_.push_back(std::move(held));
        if (held_.size() > 40)
            end_one();
    }

    SpanBounds& bounds_of(const Held& held, std::size_t i) {
        Side& side = sides_[held.sides[i]];
        const std::uint64_t of = side.limit->keyed() ? held.model.asked[i].key : 0;
        return side.bounds
            .try_emplace(
                of, side.limit->identity(), side.numbers.quota, held.model.asked[i].ask.most())
            .first->second;
    }

    void give_back_one() {
        if (held_.empty())
            return;
        Held& held = dice_.one_in(2) ? held_.back() : dice_.one_of(held_);
        if (held.model.asked.empty())
            return;
        const std::size_t i = dice_.below(held.model.asked.size());
        const std::uint64_t cost = held.model.asked[i].ask.cost;
        const std::uint64_t actual = dice_.one_in(2) ? 0 : dice_.below(cost + 2);
        held.permit.settle(i, actual, now());
        if ((held.returnable >> i & 1U) == 0 || actual >= cost)
            return;
        if (!changing_ && held.model.charged(i))
            bounds_of(held, i).give_back(held.model.first + i, cost - actual);
        held.model.settle(i, actual, now());
    }

    void end_one() {
        if (held_.empty())
            return;
        const auto chosen = held_.begin() + static_cast<std::ptrdiff_t>(dice_.below(held_.size()));
        Held held = std::move(*chosen);
        held_.erase(chosen);
        const bool in_order = !dice_.one_in(4);
        if (in_order)
            held.permit.release(now());
        held.permit = {};
        held.model.release(now(), in_order);
    }

    Dice dice_;
    bool changing_; // numbers do
    Clocks clocks_;
    std::deque<Side> sides_;
    std::vector<Held> held_;
    model::Id charges_made_ = 1;
};

} // namespace

TEST_CASE("admissions are those of a naive model in any history") {
    for_each_seed(1500, [](std::uint64_t seed) {
        History history{seed};
        for (int step = 0; step < 2000; ++step) {
            INFO("operation ", step);
            history.step();
            if (step % 100 == 0) {
                history.check_states();
                history.check_bounds();
            }
        }
        history.end_all();
    });
}
