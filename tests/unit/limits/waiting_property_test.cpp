// Waiting in random histories, over all that a limit can be at once, against the naive room.
#include "random_history.hpp"
#include "reference_room.hpp"
#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// Requests before a few limits of which most let wait; clients that leave, also when they have been
// let go and do not know it yet; charges and slots given back; numbers that change while requests
// wait; and clocks whose openings are noticed late at times.
class WaitHistory {
  public:
    explicit WaitHistory(std::uint64_t seed) : dice_{seed} {
        const std::size_t count = 1 + dice_.below(4);
        for (std::size_t i = 0; i < count; ++i)
            add_limit();
    }
    ~WaitHistory() {
        for (auto& [name, waiter] : waiters_)
            room_.leave(*waiter.real, now());
    }

    void step() {
        const Side& side = dice_.one_of(sides_);
        clocks_.move(dice_, side.per(), side.numbers.quota);
        switch (dice_.below(12)) {
        case 0:
            leave();
            break;
        case 1:
        case 2:
            end();
            break;
        case 3:
            settle();
            break;
        case 4:
        case 5:
        case 6:
            open();
            break;
        case 7:
            if (dice_.one_in(3))
                requote();
            break;
        default:
            enter();
            break;
        }
        for (const Side& each : sides_)
            REQUIRE(each.limit->waiting() == model_.waiting(*each.limit));
    }

  private:
    static constexpr std::uint64_t keys = 3;
    static constexpr std::uint64_t flows = 4;

    struct Side {
        explicit Side(const LimitSpec& spec) : limit{std::make_unique<Limit>(spec)}, model{spec} {}
        [[nodiscard]] Duration per() const {
            return model.is_cap() ? Duration{100ms} : limit->identity().per;
        }

        std::unique_ptr<Limit> limit;
        model::LimitModel model;
        Settings numbers;
        WaitTerms terms;
        bool enforce = true;
    };
    struct Request {
        std::unique_ptr<Waiter> real;
        model::PermitModel permit; // asked: as it entered, and with the numbers it got since
        std::vector<CounterId> counters;
    };
    using Decided = model::RoomModel::Decided;

    [[nodiscard]] const Now& now() const { return clocks_.now(); }

    void add_limit() {
        Side& side = sides_.emplace_back(random_limit(dice_, keys));
        side.numbers = random_settings(dice_);
        side.enforce = !dice_.one_in(8);
        side.terms.waits = side.enforce && !dice_.one_in(6);
        side.terms.max_wait = 1ns + dice_.shorter_than(4 * side.per());
        side.terms.max_waiting = 1 + dice_.below(12);
    }

    void ask(Request& made, model::WaiterModel& waiter, Side& side) {
        const Settings numbers = dice_.one_in(8) ? random_settings(dice_) : side.numbers;
        const std::uint64_t of = dice_.below(keys);
        const std::uint64_t cost = random_cost(dice_, numbers.quota);
        made.real->charges.push_back(
            {.limit = side.limit.get(),
             .key = key(of),
             .quota = numbers.quota,
             .burst = numbers.burst,
             .cost = cost,
             .enforce = side.enforce,
             .pace = numbers.pace});
        made.real->terms.push_back(side.terms);
        const auto flow = dice_.below(flows);
        made.real->terms.back().flow = key(flow);
        made.real->terms.back().key = std::to_string(of);
        made.counters.push_back({side.limit.get(), side.limit->keyed() ? key(of) : Hash128{}});
        waiter.asked.push_back(
            {&side.model, of, {numbers.quota, numbers.burst, cost, numbers.pace}, side.enforce});
        waiter.terms.push_back(side.terms);
        waiter.flows.push_back(static_cast<int>(flow));
    }

    void enter() {
        const int name = ++names_;
        Request& made = waiters_[name];
        made.real = std::make_unique<Waiter>(post_);
        model::WaiterModel waiter;
        waiter.name = name;
        waiter.first = static_cast<model::Id>(name) * max_charges;
        for (Side& side : sides_)
            if (!dice_.one_in(2))
                ask(made, waiter, side);
        waiter.counters = made.counters;
        made.permit = {waiter.asked, waiter.first, 0, now()};

        const auto entered = room_.enter(*made.real, now());

        const bool waits = model_.enter(std::move(waiter), now());
        std::vector<Decided> told = collected();
        std::vector<Decided> wanted = model_.collect();
        const auto own = std::ranges::find(wanted, name, &Decided::name);
        REQUIRE(waits == (own == wanted.end()));
        REQUIRE((entered == AdmissionQueue::Entered::waiting) == waits);
        if (!waits) { // the caller has its answer already
            REQUIRE(model::outcome_of(made.real->decision) == own->outcome);
            REQUIRE(
                made.real->decision.allowed() == (entered == AdmissionQueue::Entered::admitted));
            wanted.erase(own);
        } else {
            clocks_.aim(made.real->terms[made.real->waited_for].max_wait);
        }
        compare(told, wanted);
        if (!waits)
            settle_down(name);
    }

    void open() {
        const Duration next = room_.open(now()).time_since_epoch();

        REQUIRE(next.count() == model_.open(now()).time_since_epoch().count());
        REQUIRE(model_.forgotten(now()) == 0);
        clocks_.aim(next - now().steady.time_since_epoch());
        if (dice_.one_in(4))
            leave(); // perhaps one that has been let go
        const std::vector<Decided> told = collected();
        compare(told, model_.collect());
    }

    // What the room has decided, in its order.
    std::vector<Decided> collected() {
        Waiters over;
        room_.collect(post_, over);
        std::vector<Decided> told;
        over.clear_and_dispose([&](Waiter* waiter) {
            const auto found = std::ranges::find_if(
                waiters_, [&](const auto& each) { return each.second.real.get() == waiter; });
            told.push_back({found->first, model::outcome_of(waiter->decision)});
        });
        return told;
    }
    void compare(const std::vector<Decided>& told, std::vector<Decided> wanted) {
        std::erase_if(wanted, [&](const Decided& each) { return left_ == each.name; });
        if (told != wanted)
            REQUIRE(model::described(told) == model::described(wanted));
        for (const Decided& each : told)
            settle_down(each.name);
    }
    // A refused request is forgotten; an admitted one holds what it was charged.
    void settle_down(int name) {
        Request& request = waiters_.at(name);
        if (!request.real->decision.allowed()) {
            waiters_.erase(name);
            return;
        }
        request.permit.not_charged = request.real->decision.would_refuse;
        request.permit.since = now();
        going_.push_back(name);
        if (going_.size() > 12)
            end();
    }

    void leave() {
        if (waiters_.empty())
            return;
        const auto chosen =
            std::next(waiters_.begin(), static_cast<std::ptrdiff_t>(dice_.below(waiters_.size())));
        const int name = chosen->first;
        if (std::ranges::find(going_, name) != going_.end())
            return;
        Request gone = std::move(chosen->second);
        waiters_.erase(chosen);
        room_.leave(*gone.real, now());
        if (model_.waits(name))
            return model_.leave(name);
        left_ = name; // it has been decided, and has not been told
        const std::vector<Decided> decided = model_.decided();
        const auto own = std::ranges::find(decided, name, &Decided::name);
        if (!own->outcome.allowed())
            return;
        gone.permit.not_charged = own->outcome.would_refuse;
        for (std::size_t i = 0; i < gone.counters.size(); ++i)
            give_back(gone, i, 0);
        release(gone, false);
    }

    void give_back(Request& request, std::size_t i, std::uint64_t actual) {
        const model::Asked& asked = request.permit.asked[i];
        const bool told =
            !asked.limit->is_cap() && request.permit.charged(i) && actual < asked.ask.cost;
        request.permit.settle(i, actual, now());
        if (told)
            model_.freed(request.counters[i]);
    }
    void release(Request& request, bool learns) {
        const std::uint32_t before = request.permit.not_charged;
        request.permit.release(now(), learns);
        for (std::size_t i = 0; i < request.counters.size(); ++i)
            if (((request.permit.not_charged ^ before) >> i & 1U) != 0)
                model_.freed(request.counters[i]);
    }

    void settle() {
        if (going_.empty())
            return;
        Request& request = waiters_.at(dice_.one_in(2) ? going_.back() : dice_.one_of(going_));
        if (request.counters.empty())
            return;
        const std::size_t i = dice_.below(request.counters.size());
        const std::uint64_t cost = request.permit.asked[i].ask.cost;
        const std::uint64_t actual = dice_.one_in(2) ? 0 : dice_.below(cost + 2);
        request.real->decision.permit.settle(i, actual, now());
        request.real->decision.permit.notify_waiters();
        give_back(request, i, actual);
    }

    void end() {
        if (going_.empty())
            return;
        const auto chosen =
            going_.begin() + static_cast<std::ptrdiff_t>(dice_.below(going_.size()));
        Request request = std::move(waiters_.at(*chosen));
        waiters_.erase(*chosen);
        going_.erase(chosen);
        const bool in_order = !dice_.one_in(4);
        if (in_order)
            request.real->decision.permit.release(now());
        request.real->decision.permit = {};
        release(request, in_order);
    }

    void requote() {
        Side& side = dice_.one_of(sides_);
        const Settings fresh = random_settings(dice_);
        std::optional<std::uint64_t> one_key;
        if (dice_.one_in(2))
            one_key = dice_.below(keys);
        else
            side.numbers = fresh;
        const auto numbers = [&](const std::optional<std::string>& key) {
            const bool meant = !one_key || key == std::to_string(*one_key);
            const Settings& settings = meant ? fresh : side.numbers;
            return Numbers{settings.quota, settings.burst};
        };
        room_.update_quota(*side.limit, numbers);
        model_.requote(*side.limit, numbers);
    }

    Dice dice_;
    Clocks clocks_;
    Alarm alarm_;
    Post post_;
    std::deque<Side> sides_; // outlives the permits in waiters_
    AdmissionQueue room_{alarm_};
    model::RoomModel model_;
    std::map<int, Request> waiters_; // waiting, or going
    std::vector<int> going_;
    int names_ = 0;
    int left_ = 0;
};

} // namespace

TEST_CASE("requests wait, go and are refused as a naive room says, in any history") {
    for_each_seed(2000, [](std::uint64_t seed) {
        WaitHistory history{seed};
        run_steps(history, 1000);
    });
}
