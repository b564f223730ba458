// Outlooks in random histories: each says what then becomes of a request, and a scope that is
// looked at goes on like a twin that is not.
#include "limits/cooldown/cooldown.hpp"
#include "random_history.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;
using Asked = Cooldown::Pass::Asked;

struct QuietWaiter final : CooldownWaiter {
    void call() noexcept override { ++calls; }
    int calls = 0;
};

// What becomes of a request.
struct Fate {
    bool sent = false;
    bool waits = false;
    std::optional<Cooldown::Refused> refused;
    SteadyTime again{};

    [[nodiscard]] auto all() const {
        const Cooldown::Refused why = refused.value_or(Cooldown::Refused{});
        return std::tuple{
            sent, waits, why.status, why.wait.count(), why.paced, again.time_since_epoch().count()};
    }
};

class TwinScope {
  public:
    ~TwinScope() {
        for (auto& each : waiting_)
            cooldown_->leave(*each);
    }

    // As requests go: a look; if that refuses a request that may wait, a place in line.
    Fate come(SteadyTime now, const CooldownRules& rules) {
        const auto refused = cooldown_->look(now, rules);
        if (!refused) {
            passes_.push_back(Cooldown::enter(cooldown_, now, rules).pass);
            return {.sent = true, .waits = false, .refused = {}};
        }
        if (!rules.waits)
            return {.sent = false, .waits = false, .refused = refused};
        waiting_.push_back(std::make_unique<QuietWaiter>());
        return ask(waiting_.size() - 1, now, rules);
    }
    Fate ask(std::size_t which, SteadyTime now, const CooldownRules& rules) {
        auto attempt = Cooldown::attempt(cooldown_, *waiting_[which], now, rules);
        Fate fate{
            .sent = static_cast<bool>(attempt.pass),
            .waits = !attempt.pass && !attempt.refused,
            .refused = attempt.refused,
            .again = attempt.again};
        if (attempt.pass)
            passes_.push_back(std::move(attempt.pass));
        if (!fate.waits)
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
        return fate;
    }
    void leave(std::size_t which) {
        cooldown_->leave(*waiting_[which]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    void answer(
        std::size_t which,
        const std::optional<Asked>& asked,
        const std::optional<LearnedPace::Told>& told,
        SteadyTime now,
        const CooldownRules& rules) {
        passes_[which].answered(asked, now, rules);
        passes_[which].adapt(told, now);
        drop(which);
    }
    void drop(std::size_t which) {
        passes_.erase(passes_.begin() + static_cast<std::ptrdiff_t>(which));
    }

    Cooldown::Outlook outlook(SteadyTime now, const CooldownRules& rules) const {
        return cooldown_->outlook(now, rules);
    }
    [[nodiscard]] auto state(SteadyTime now) const {
        int calls = 0;
        for (const auto& each : waiting_)
            calls += each->calls;
        const CooldownState state = cooldown_->state(now);
        return std::tuple{state.phase,  state.status,  state.left.count(), state.rate,
                          state.pauses, state.refused, state.waiting,      calls};
    }
    [[nodiscard]] std::size_t passes() const { return passes_.size(); }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  private:
    CooldownPtr cooldown_ = std::make_shared<Cooldown>("target");
    std::deque<std::unique_ptr<QuietWaiter>> waiting_;
    std::deque<Cooldown::Pass> passes_;
};

struct FateCount {
    int sent = 0;
    int waits = 0;
    int behind_others = 0;
    int refused = 0;
    int refused_waiters = 0;
};

class ScopeHistory {
  public:
    ScopeHistory(std::uint64_t seed, FateCount& count)
        : dice_{seed}, learns_{dice_.one_in(3)}, count_{count} {}

    void step() {
        if (!dice_.one_in(3))
            now_ += dice_.shorter_than(dice_.one_in(8) ? 20s : 1s);
        const CooldownRules rules = random_rules();
        if (dice_.one_in(2)) // of a request that does not come
            (void)outlook(random_rules());
        switch (dice_.below(6)) {
        case 0:
            answer(rules);
            break;
        case 1:
            if (scope_.passes() > 0) {
                const std::size_t which = dice_.below(scope_.passes());
                scope_.drop(which);
                twin_.drop(which);
            }
            break;
        case 2:
            ask(rules);
            break;
        default:
            come(rules);
        }
        REQUIRE(scope_.state(now_) == twin_.state(now_));
    }

  private:
    CooldownRules random_rules() {
        static constexpr Duration ramps[] = {Duration{}, 1s, 10s};
        CooldownRules rules;
        rules.most = 15s;
        rules.otherwise = 2s;
        rules.ramp = ramps[dice_.one_in(8) ? dice_.below(3) : 2];
        rules.learn = learns_;
        rules.waits = !dice_.one_in(4);
        rules.max_wait = dice_.one_in(8) ? Duration{} : dice_.shorter_than(20s);
        rules.max_waiting = dice_.below(8);
        return rules;
    }

    Cooldown::Outlook outlook(const CooldownRules& rules) {
        const auto before = scope_.state(now_);
        const auto outlook = scope_.outlook(now_, rules);
        REQUIRE(scope_.state(now_) == before);
        return outlook;
    }
    void come(const CooldownRules& rules) {
        const auto outlook = this->outlook(rules);
        const std::size_t others = scope_.waiting();
        const Fate fate = scope_.come(now_, rules);
        REQUIRE(fate.all() == twin_.come(now_, rules).all());
        const Fate expected{
            .sent = !outlook.refused && !outlook.wait,
            .waits = outlook.wait.has_value(),
            .refused = outlook.refused,
            .again = fate.again};
        REQUIRE(expected.all() == fate.all());
        if (outlook.wait) {
            REQUIRE(*outlook.wait > Duration::zero());
            REQUIRE(*outlook.wait <= rules.max_wait);
        }
        count_.sent += fate.sent ? 1 : 0;
        count_.waits += fate.waits ? 1 : 0;
        count_.behind_others += fate.waits && others > 0 ? 1 : 0;
        (rules.waits ? count_.refused_waiters : count_.refused) += fate.refused ? 1 : 0;
    }
    void ask(const CooldownRules& rules) {
        if (scope_.waiting() == 0)
            return;
        const std::size_t which = dice_.one_in(2) ? 0 : dice_.below(scope_.waiting());
        if (dice_.one_in(5)) {
            scope_.leave(which);
            return twin_.leave(which);
        }
        const Fate fate = scope_.ask(which, now_, rules);
        REQUIRE(fate.all() == twin_.ask(which, now_, rules).all());
    }
    void answer(const CooldownRules& rules) {
        if (scope_.passes() == 0)
            return;
        const std::size_t which = dice_.below(scope_.passes());
        std::optional<Asked> asked;
        if (dice_.one_in(3))
            asked = Asked{dice_.one_in(2) ? 429 : 503, std::nullopt};
        if (asked && !dice_.one_in(4))
            asked->wait = dice_.shorter_than(20s);
        std::optional<LearnedPace::Told> told;
        if (!dice_.one_in(3))
            told = {dice_.below(10), dice_.shorter_than(10s)};
        scope_.answer(which, asked, told, now_, rules);
        twin_.answer(which, asked, told, now_, rules);
    }

    Dice dice_;
    const bool learns_;
    FateCount& count_;
    SteadyTime now_ = start.steady;
    TwinScope scope_;
    TwinScope twin_; // of which no outlook is taken
};

} // namespace

TEST_CASE("an outlook says what then becomes of a request, and changes nothing, in any history") {
    const auto count = run_counted<ScopeHistory, FateCount>(400, 500);
    if (!count)
        return;
    CHECK(count->sent > 5'000);
    CHECK(count->waits > 5'000);
    CHECK(count->behind_others > 5'000);
    CHECK(count->refused > 5'000);
    CHECK(count->refused_waiters > 5'000);
}
