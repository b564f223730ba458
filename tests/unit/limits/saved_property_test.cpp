// A limit whose counts were kept answers as a limit that never ended: random histories,
// saved page by page as they go, brought back into a fresh limit, and gone on with.
#include "random_history.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

LimitSpec random_window(Dice& dice, std::uint64_t keys) {
    LimitSpec spec = random_limit(dice, keys);
    while (spec.identity.algorithm == Algorithm::concurrency)
        spec = random_limit(dice, keys);
    if (dice.one_in(3)) // the shards of a clock's window, too
        spec.max_keys = 50'000;
    return spec;
}

// What a file would hold.
class Kept {
  public:
    void save(Limit& limit, const Now& now) {
        for (std::size_t shard = 0; shard < limit.shards(); ++shard) {
            std::vector<SavedPage> pages;
            limit.save(shard, limit.take_changed(shard), now, pages);
            for (SavedPage& page : pages)
                pages_[page.page] = std::move(page.bytes);
        }
    }

    [[nodiscard]] bool give_to(Limit& limit, Duration shift, const Now& now) const {
        std::vector<RestoredPage> pages;
        for (const auto& [page, bytes] : pages_)
            if (!bytes.empty())
                pages.push_back({page, bytes, shift});
        return limit.restore(pages, now);
    }

  private:
    std::map<std::uint32_t, std::string> pages_;
};

class History {
  public:
    explicit History(std::uint64_t seed)
        : dice_{seed}, spec_{random_window(dice_, keys)}, settings_{random_settings(dice_)},
          clocks_{spec_.identity.anchor == Anchor::first_request}, former_{std::make_unique<Limit>(
                                                                       spec_)} {}

    void before() {
        for (std::uint64_t left = dice_.below(200); left > 0; --left) {
            step();
            if (dice_.one_in(10))
                kept_.save(*former_, clocks_.now());
        }
    }

    // Nothing between the last save and the end. Permits end with their process.
    void end_and_begin() {
        kept_.save(*former_, clocks_.now());
        held_.clear();
        clocks_.move(dice_, spec_.identity.per, settings_.quota);
        LimitSpec spec = spec_;
        if (spec.identity.anchor == Anchor::first_request && dice_.one_in(3))
            spec.max_keys = 20'000 + dice_.below(200'000);
        // Another boot's clock. Sliding windows put instants together by parts of the window, so it
        // differs by a number of these.
        if (dice_.one_in(2))
            shift_ = std::max<Duration>(spec_.identity.per / 128, 1ns) *
                     (static_cast<std::int64_t>(dice_.below(2000)) - 1000);
        next_ = std::make_unique<Limit>(spec);
        REQUIRE(kept_.give_to(*next_, shift_, now_of_next()));
    }

    void after() {
        for (int left = 200; left > 0; --left) {
            step();
            if (left % 20 == 0)
                compare();
        }
    }

    void compare() {
        REQUIRE(next_->live_keys(now_of_next()) == former_->live_keys(clocks_.now()));
        for (std::uint64_t of = 0; of < keys; ++of) {
            const Charge charge{nullptr, key(of), settings_.quota, settings_.burst};
            const CounterState is = next_->state_of(charge, now_of_next());
            const CounterState was = former_->state_of(charge, clocks_.now());
            REQUIRE(is.used == was.used);
            REQUIRE(is.remaining == was.remaining);
            REQUIRE(is.resets_in == was.resets_in);
        }
    }

  private:
    static constexpr std::uint64_t keys = 12;
    struct Held {
        Permit former;
        Permit next;
        std::uint64_t cost;
    };

    [[nodiscard]] Now now_of_next() const {
        return {clocks_.now().steady + shift_, clocks_.now().wall};
    }

    void step() {
        clocks_.move(dice_, spec_.identity.per, settings_.quota);
        if (dice_.one_in(4))
            give_back();
        else
            ask();
    }

    void ask() {
        const Charge charge{
            .limit = former_.get(),
            .key = key(dice_.below(keys)),
            .quota = settings_.quota,
            .burst = settings_.burst,
            .cost = random_cost(dice_, settings_.quota),
            .pace = settings_.pace,
            .refundable = true};
        Decision was = admit({&charge, 1}, clocks_.now());
        clocks_.aim(was.retry_after);
        Held held{std::move(was.permit), {}, charge.cost};
        if (next_) {
            Charge same = charge;
            same.limit = next_.get();
            Decision is = admit({&same, 1}, now_of_next());
            REQUIRE(is.refusal == was.refusal);
            REQUIRE(is.retry_after == was.retry_after);
            held.next = std::move(is.permit);
        }
        if (was.allowed())
            held_.push_back(std::move(held));
    }

    void give_back() {
        if (held_.empty())
            return;
        Held& held = dice_.one_of(held_);
        const std::uint64_t actual = dice_.below(held.cost + 1);
        held.former.settle(0, actual, clocks_.now());
        if (next_)
            held.next.settle(0, actual, now_of_next());
    }

    Dice dice_;
    LimitSpec spec_;
    Settings settings_;
    Clocks clocks_;
    Kept kept_;
    Duration shift_{};
    std::unique_ptr<Limit> former_;
    std::unique_ptr<Limit> next_;
    std::vector<Held> held_;
};

} // namespace

TEST_CASE("a limit whose counts were kept answers as if it had never ended") {
    for_each_seed(4000, [](std::uint64_t seed) {
        History history{seed};
        history.before();
        history.end_and_begin();
        history.compare();
        history.after();
    });
}
