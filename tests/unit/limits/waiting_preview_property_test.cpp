// Previews in random histories: each answers what entering then answers, and a room where they are
// taken goes on like a twin where none is.
#include "limits/counter/tally.hpp"
#include "random_history.hpp"
#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

constexpr std::uint64_t preview_keys = 2;

// One limit and its configuration, the same in both rooms.
struct Configured {
    LimitSpec spec;
    Settings numbers;
    bool enforce = true;
    bool waits = true;
    std::uint64_t max_waiting = 1;

    [[nodiscard]] Duration per() const {
        const bool cap = spec.identity.algorithm == Algorithm::concurrency;
        return cap ? Duration{100ms} : spec.identity.per;
    }
};

// One limit's part of a request.
struct Part {
    std::size_t limit;
    std::uint64_t key;
    std::uint64_t cost;
    Duration max_wait;
    std::uint64_t flow;
};
using Wish = std::vector<Part>;

struct Answer {
    Entered entered;
    model::Outcome outcome;
    std::uint32_t refusing = 0;
    std::size_t waited_for = 0;

    friend bool operator==(const Answer&, const Answer&) = default;
};

// A room, its limits and the requests that entered it.
class PreviewedRoom {
  public:
    explicit PreviewedRoom(const std::vector<Configured>& configured) : configured_{configured} {
        for (const Configured& each : configured)
            limits_.push_back(std::make_unique<Limit>(each.spec));
    }
    ~PreviewedRoom() {
        for (auto& [name, waiter] : waiters_)
            room_.leave(*waiter, start);
    }

    AdmissionQueue::Preview preview(const Wish& wish, const Now& now) {
        Waiter waiter{post_};
        ask_for(wish, waiter);
        std::array<ChargeState, max_charges> states;
        return room_.preview(waiter.charges, waiter.terms, now, states);
    }
    Answer enter(int name, const Wish& wish, const Now& now) {
        Waiter& waiter = *waiters_.emplace(name, std::make_unique<Waiter>(post_)).first->second;
        ask_for(wish, waiter);
        const Entered entered = room_.enter(waiter, now);
        const Decision& decision = waiter.decision;
        const bool waits = entered == Entered::waiting;
        return {
            entered, model::outcome_of(decision), decision.refusing, waits ? waiter.waited_for : 0};
    }
    // When the next opening is, which requests were decided since, and how.
    std::string open(const Now& now) {
        std::ostringstream told;
        told << room_.open(now).time_since_epoch().count();
        Waiters over;
        room_.collect(post_, over);
        over.clear_and_dispose([&](Waiter* waiter) {
            const auto found = std::ranges::find_if(
                waiters_, [&](const auto& each) { return each.second.get() == waiter; });
            told << " " << found->first << ": " << model::outcome_of(waiter->decision);
        });
        return told.str();
    }
    // A waiting request leaves; an admitted one ends.
    void end(std::size_t which, bool refunds, const Now& now) {
        const auto ends = std::next(waiters_.begin(), static_cast<std::ptrdiff_t>(which));
        Waiter& waiter = *ends->second;
        room_.leave(waiter, now);
        for (std::size_t i = 0; refunds && i < waiter.charges.size(); ++i)
            waiter.decision.permit.refund(i, now);
        waiter.decision.permit.release(now);
        waiters_.erase(ends);
    }
    [[nodiscard]] std::size_t size() const { return waiters_.size(); }

    // All that a preview must leave as it is.
    std::vector<std::uint64_t> state(const Now& now) const {
        std::vector<std::uint64_t> all{static_cast<std::uint64_t>(post_.rings)};
        for (std::size_t i = 0; i < limits_.size(); ++i) {
            const Limit& limit = *limits_[i];
            const Settings& numbers = configured_[i].numbers;
            for (std::uint64_t k = 0; k < preview_keys; ++k) {
                const auto [used, remaining, resets_in] = limit.state_of(
                    {.key = key(k), .quota = numbers.quota, .burst = numbers.burst}, now);
                all.insert(
                    all.end(), {used, remaining, static_cast<std::uint64_t>(resets_in.count())});
            }
            all.insert(
                all.end(), {limit.waiting(), limit.refused(), limit.dry_run().would_refuse(),
                            limit.live_keys(now), limit.in_flight(), limit.awaited() ? 1U : 0U});
        }
        return all;
    }

  private:
    void ask_for(const Wish& wish, Waiter& waiter) {
        for (const Part& part : wish) {
            const Configured& of = configured_[part.limit];
            waiter.charges.push_back(
                {.limit = limits_[part.limit].get(),
                 .key = key(part.key),
                 .quota = of.numbers.quota,
                 .burst = of.numbers.burst,
                 .cost = part.cost,
                 .enforce = of.enforce,
                 .pace = of.numbers.pace});
            waiter.terms.push_back({of.waits, part.max_wait, of.max_waiting, key(part.flow), {}});
        }
    }

    const std::vector<Configured>& configured_;
    std::vector<std::unique_ptr<Limit>> limits_;
    Alarm alarm_;
    Post post_;
    AdmissionQueue room_{alarm_};
    std::map<int, std::unique_ptr<Waiter>> waiters_; // waiting, admitted or refused
};

struct PreviewCount {
    int admitted = 0;
    int refused = 0;
    int waiting = 0;
    int without_place = 0;
    int cannot_wait = 0;
};

class PreviewedHistory {
  public:
    PreviewedHistory(std::uint64_t seed, PreviewCount& count)
        : dice_{seed}, flows_{dice_.one_in(2) ? 1U : 3U}, count_{count} {}

    void step() {
        const Configured& side = dice_.one_of(configured_);
        clocks_.move(dice_, side.per(), side.numbers.quota);
        const auto choice = dice_.below(8);
        if (choice < 2) {
            REQUIRE(room_.open(now()) == twin_.open(now()));
        } else if (choice < 4 && room_.size() > 0) {
            const std::size_t which = dice_.below(room_.size());
            const bool refunds = dice_.one_in(3);
            room_.end(which, refunds, now());
            twin_.end(which, refunds, now());
        } else {
            enter();
        }
    }

  private:
    [[nodiscard]] const Now& now() const { return clocks_.now(); }

    std::vector<Configured> random_limits() {
        std::vector<Configured> limits(1 + dice_.below(3));
        for (Configured& each : limits) {
            each.spec = random_limit(dice_, preview_keys);
            each.numbers = random_settings(dice_);
            each.enforce = !dice_.one_in(8);
            each.waits = each.enforce && !dice_.one_in(6);
            each.max_waiting = 1 + dice_.below(6);
        }
        return limits;
    }
    Wish random_wish() {
        Wish wish;
        for (std::size_t i = 0; i < configured_.size(); ++i)
            if (configured_.size() == 1 || !dice_.one_in(3))
                wish.push_back(
                    {i, dice_.below(preview_keys), random_cost(dice_, configured_[i].numbers.quota),
                     dice_.one_in(8) ? Duration{} : dice_.shorter_than(4 * configured_[i].per()),
                     dice_.below(flows_)});
        return wish;
    }

    AdmissionQueue::Preview preview(const Wish& wish) {
        const auto before = room_.state(now());
        AdmissionQueue::Preview preview = room_.preview(wish, now());
        REQUIRE(room_.state(now()) == before);
        return preview;
    }
    void enter() {
        if (dice_.one_in(2))
            (void)preview(random_wish()); // of a request that does not come
        const Wish wish = random_wish();
        const auto preview = this->preview(wish);
        const Answer answer = room_.enter(++names_, wish, now());
        REQUIRE(answer == twin_.enter(names_, wish, now()));
        compare(wish, preview, answer);
    }

    void compare(const Wish& wish, const AdmissionQueue::Preview& preview, const Answer& answer) {
        if (preview.outcome == Entered::refused && answer.entered == Entered::waiting) {
            // It stands there until the next open(), as it cannot wait.
            REQUIRE(wish[answer.waited_for].max_wait == Duration::zero());
            REQUIRE(preview.decision.refused_by == answer.waited_for);
            ++count_.cannot_wait;
            return;
        }
        REQUIRE(
            answer == Answer{
                          preview.outcome, model::outcome_of(preview.decision),
                          preview.decision.refusing, preview.waited_for});
        if (preview.outcome == Entered::waiting) {
            const Part& part = wish[preview.waited_for];
            const auto algorithm = configured_[part.limit].spec.identity.algorithm;
            REQUIRE((algorithm == Algorithm::concurrency || preview.wait <= part.max_wait));
            clocks_.aim(preview.wait);
            ++count_.waiting;
        } else if (preview.outcome == Entered::refused) {
            clocks_.aim(preview.decision.retry_after);
            ++(preview.decision.refusing == 0 ? count_.without_place : count_.refused);
        } else {
            ++count_.admitted;
        }
    }

    Dice dice_;
    Clocks clocks_{false}; // a wall clock that is set may end a window in one room first
    const std::uint64_t flows_;
    PreviewCount& count_;
    const std::vector<Configured> configured_ = random_limits();
    PreviewedRoom room_{configured_};
    PreviewedRoom twin_{configured_};
    int names_ = 0;
};

} // namespace

TEST_CASE("a preview answers what enter() then answers, and changes nothing, in any history") {
    const auto count = run_counted<PreviewedHistory, PreviewCount>(400, 400);
    if (!count)
        return;
    CHECK(count->admitted > 10'000);
    CHECK(count->refused > 1'000);
    CHECK(count->waiting > 10'000);
    CHECK(count->without_place > 10'000);
    CHECK(count->cannot_wait > 100);
}
