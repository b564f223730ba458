#include "reference.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// One random history: a handful of limits, requests that count against some of them, permits given
// back in any order, clocks that stand, run and jump.
class History {
  public:
    explicit History(std::uint64_t seed) : random_{seed} {
        const std::size_t count = 1 + below(6);
        for (std::size_t i = 0; i < count; ++i)
            add_limit();
    }

    void step() {
        move_clocks();
        switch (below(8)) {
        case 0:
        case 1:
            release_one();
            break;
        case 2:
            change_numbers();
            break;
        default:
            request();
            break;
        }
    }

    void check_states() {
        for (const Side& side : sides_) {
            Reference naive = side.naive; // looking at a limit changes nothing
            naive.forget(now_);
            REQUIRE(side.limit->live_keys(now_) == naive.keys());
            for (std::uint64_t of = 0; of < keys; ++of)
                REQUIRE(
                    state(*side.limit, now_, key(of)).used ==
                    naive.used(side.limit->keyed() ? of : 0));
        }
    }

    void release_all() {
        while (!held_.empty())
            release_one();
        for (const Side& side : sides_)
            REQUIRE(side.limit->in_flight() == 0);
    }

  private:
    static constexpr std::uint64_t keys = 12;

    struct Side {
        std::unique_ptr<Limit> limit;
        Reference naive;
        std::uint64_t quota;
    };
    struct Held {
        Permit permit;
        SteadyTime since;
        std::vector<std::pair<std::size_t, std::uint64_t>> slots; // side, key
    };

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    void add_limit() {
        const Anchor anchor = below(2) == 0 ? Anchor::first_request : Anchor::clock;
        const Duration per = Duration{1ms} * static_cast<std::int64_t>(1 + below(300));
        LimitSpec spec = below(3) == 0 ? cap() : window(per, anchor);
        if (below(2) == 0)
            spec.identity.key = "client_ip";
        // Now and then several shards, of which each has a clock window of its own.
        const bool sharded = below(3) == 0 && spec.identity.anchor == Anchor::first_request;
        spec.max_keys = sharded ? 50'000 : keys + below(4);
        sides_.push_back({std::make_unique<Limit>(spec), Reference{spec}, 1 + below(6)});
    }

    void move_clocks() {
        if (below(3) == 0)
            return;
        const Duration by = below(20) == 0 ? Duration{1ms} * static_cast<std::int64_t>(below(900))
                                           : Duration{static_cast<std::int64_t>(below(9'000'000))};
        now_.steady += by;
        now_.wall += by;
        if (below(25) == 0) { // often by a round number, so that boundaries coincide
            const Duration unit = below(2) == 0 ? Duration{50ms} : Duration{123'457ns};
            now_.wall += unit * (static_cast<std::int64_t>(below(41)) - 20);
        }
    }

    void change_numbers() {
        Side& side = sides_[below(sides_.size())];
        side.quota = 1 + below(6);
        const std::uint64_t max_keys = keys + below(4);
        side.limit->set_max_keys(max_keys);
    }

    void release_one() {
        if (held_.empty())
            return;
        const auto chosen = held_.begin() + static_cast<std::ptrdiff_t>(below(held_.size()));
        Held held = std::move(*chosen);
        held_.erase(chosen);
        held.permit.release(now_);
        for (const auto& [side, of] : held.slots)
            sides_[side].naive.release(of, now_.steady - held.since);
    }

    void request() {
        std::vector<Charge> charges;
        Held held{{}, now_.steady, {}};
        std::vector<std::pair<std::size_t, std::uint64_t>> chosen;
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            if (below(3) == 0)
                continue;
            const std::uint64_t of = below(keys);
            charges.push_back({sides_[i].limit.get(), key(of), sides_[i].quota});
            chosen.emplace_back(i, sides_[i].limit->keyed() ? of : 0);
        }

        Decision decision = admit(charges, now_);

        const Reference::Answer wanted = ask_all(chosen, decision.refused_by);
        REQUIRE(decision.refusal == wanted.refusal);
        REQUIRE(decision.retry_after == wanted.wait);
        if (!decision.allowed())
            return;
        for (const auto& [side, of] : chosen) {
            sides_[side].naive.charge(of, now_);
            if (sides_[side].naive.is_cap())
                held.slots.emplace_back(side, of);
        }
        REQUIRE(decision.permit.holds_slots() == !held.slots.empty());
        held.permit = std::move(decision.permit);
        if (!held.slots.empty())
            held_.push_back(std::move(held));
    }

    Reference::Answer ask_all(
        const std::vector<std::pair<std::size_t, std::uint64_t>>& chosen, std::size_t refused_by) {
        Reference::Answer longest;
        std::size_t by = 0;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            Side& side = sides_[chosen[i].first];
            const Reference::Answer answer = side.naive.ask(chosen[i].second, side.quota, now_);
            if (answer.refusal == Refusal::none ||
                (longest.refusal != Refusal::none && answer.wait <= longest.wait))
                continue;
            longest = answer;
            by = i;
        }
        REQUIRE(refused_by == by);
        return longest;
    }

    std::mt19937_64 random_;
    Now now_ = start;
    std::vector<Side> sides_;
    std::vector<Held> held_;
};

} // namespace

TEST_CASE("admissions are those of a naive model in any history") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        History history{seed};
        for (int step = 0; step < 1500; ++step) {
            history.step();
            if (step % 50 == 0)
                history.check_states();
        }
        history.release_all();
    }
}
