// Locks in random histories of holders who come, stay, leave, die and freeze, over restarts, beside
// a model of who believes to be inside.
#include "hall.hpp"
#include "random_history.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <vector>

using namespace stint;
using namespace stint::locks;
using namespace stint::locks::test;
using limits::test::Dice;
using limits::test::for_each_seed;

namespace {

// Some locks, holders on some connections, a state file (or none, and then a grace), and a writer
// that is late, fails at times, and dies with the process.
class History {
  public:
    explicit History(std::uint64_t seed) : dice_{seed}, with_state_{!dice_.one_in(4)} {
        const std::size_t count = 1 + dice_.below(3);
        for (std::size_t i = 0; i < count; ++i)
            max_.push_back(1 + dice_.below(3));
        begin();
    }

    void step() {
        now_ = {now_.steady + step_length(), now_.wall + 1ms};
        switch (dice_.below(14)) {
        case 0:
            kill();
            break;
        case 1:
        case 2:
        case 3:
            release();
            break;
        case 4:
        case 5:
            renew();
            break;
        case 6:
            if (dice_.one_in(6))
                restart();
            break;
        case 7:
            leave_line();
            break;
        case 8:
        case 9:
            write();
            break;
        default:
            ask();
            break;
        }
        open();
        check();
    }

  private:
    struct Believer {
        std::size_t lock;
        Grant grant;
        SteadyTime until; // at the latest: a holder reckons from when it asked
        std::uint64_t connection_id;
        int life; // in which it was granted
    };
    // Who has been let in by the limits, or waits for that.
    struct Asking {
        explicit Asking(limits::Mailbox& post) : waiter{post} {}
        std::size_t lock = 0;
        LeaseRequest wish;
        limits::Waiter waiter;
        Waiting seen;
    };
    // Granted, and to be told once it is written.
    struct Granted {
        std::size_t lock;
        Grant grant;
        LeaseRequest wish;
    };
    struct Life {
        explicit Life(const Now& now) : hall{now} {}
        ~Life() {
            for (const auto& each : line)
                hall.room.leave(each->waiter, start);
        }
        Hall hall;
        limits::test::Post post;
        std::list<std::unique_ptr<Asking>> line; // in the order of arrival
        std::vector<Granted> granted;
    };

    [[nodiscard]] Duration step_length() {
        return dice_.one_in(3) ? Duration{dice_.shorter_than(400ms)} : Duration{0};
    }
    [[nodiscard]] Hall& hall() { return life_->hall; }
    [[nodiscard]] static std::string name(std::size_t lock) {
        return std::string(1, char('a' + lock));
    }

    void begin() {
        life_ = std::make_unique<Life>(now_);
        ++lives_;
        if (with_state_) {
            std::vector<SavedLease> saved;
            for (const auto& [id, lease] : file_)
                saved.push_back(lease);
            hall().book.restore(saved, file_fence_, now_);
            hall().book.record([] {});
        } else {
            hall().book.keep_closed_until(now_.steady + longest_ttl, now_);
        }
        std::vector<LockManager::Declared> declared;
        for (std::size_t i = 0; i < max_.size(); ++i)
            declared.push_back({name(i), max_[i], 1000});
        hall().book.configure(declared, 0, 1000, now_);
    }

    void restart() {
        life_.reset();
        now_.steady += Duration{dice_.shorter_than(2s)};
        begin();
    }

    void ask() {
        auto asking = std::make_unique<Asking>(life_->post);
        asking->lock = dice_.below(max_.size());
        asking->wish.ttl = 1ms + Duration{dice_.shorter_than(longest_ttl - 1ms)};
        asking->wish.connection_id = dice_.below(4); // 0: none
        const LockPtr lock = hall().lock(name(asking->lock), max_[asking->lock], now_);
        asking->waiter.charges.push_back(lock->charge());
        limits::WaitTerms& terms = asking->waiter.terms.emplace_back();
        terms.waits = true;
        terms.max_wait = 1ns + Duration{dice_.shorter_than(2s)};
        terms.max_waiting = 1000;
        const auto entered = hall().room.enter(asking->waiter, now_);
        if (entered == limits::AdmissionQueue::Entered::admitted) {
            // Nobody who came before may still stand there.
            REQUIRE(standing(asking->lock) == 0);
            grant(*asking);
        } else if (entered == limits::AdmissionQueue::Entered::waiting) {
            hall().book.begin_wait(lock, asking->seen, "", now_);
            life_->line.push_back(std::move(asking));
        }
    }

    [[nodiscard]] std::size_t standing(std::size_t lock) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            life_->line, [&](const auto& each) { return each->lock == lock; }));
    }

    void grant(Asking& asking) {
        const LockPtr lock = hall().lock(name(asking.lock), max_[asking.lock], now_);
        const Grant grant =
            hall()
                .book.grant(lock, asking.wish, std::move(asking.waiter.decision.permit), now_)
                .value();
        REQUIRE(grant.fence > highest_);
        highest_ = grant.fence;
        life_->granted.push_back({asking.lock, grant, asking.wish});
        tell();
    }

    // Those whose grants are written, or need not be.
    void tell() {
        std::erase_if(life_->granted, [&](const Granted& each) {
            const LockManager::Durability kept = hall().book.kept(each.grant);
            if (kept == LockManager::Durability::yes && hall().book.look(each.grant.id, now_))
                believers_.push_back(
                    {each.lock, each.grant, each.grant.expires, each.wish.connection_id, lives_});
            return kept != LockManager::Durability::not_yet;
        });
    }
    void write() {
        if (!with_state_)
            return;
        LockManager::Records records = hall().book.take_records();
        if (dice_.one_in(8)) {
            hall().book.not_written(std::move(records), now_);
        } else {
            for (const LockManager::Record& each : records.changes) {
                if (each.lease)
                    file_[each.id] = *each.lease;
                else
                    file_.erase(each.id);
            }
            file_fence_ = records.fence;
            if (dice_.one_in(20))
                return restart(); // before anybody hears of it
            hall().book.written(records);
        }
        tell();
    }

    void open() {
        hall().book.expire(now_);
        hall().room.open(now_);
        limits::Waiters over;
        hall().room.collect(life_->post, over);
        while (!over.empty()) {
            limits::Waiter& waiter = over.front();
            over.pop_front();
            const auto at = std::ranges::find_if(
                life_->line, [&](const auto& each) { return &each->waiter == &waiter; });
            const std::unique_ptr<Asking> asking = std::move(*at);
            if (waiter.decision.allowed()) { // those before it have gone or were let in before it
                for (auto before = life_->line.begin(); before != at; ++before)
                    REQUIRE((*before == nullptr || (*before)->lock != asking->lock));
            }
            life_->line.erase(at);
            hall().book.end_wait(asking->seen);
            if (waiter.decision.allowed())
                grant(*asking);
        }
    }

    [[nodiscard]] bool known(const Believer& believer) const {
        return with_state_ || believer.life == lives_;
    }

    void leave_line() {
        if (life_->line.empty())
            return;
        const auto at = std::next(
            life_->line.begin(), static_cast<std::ptrdiff_t>(dice_.below(life_->line.size())));
        hall().room.leave((*at)->waiter, now_);
        hall().book.end_wait((*at)->seen);
        life_->line.erase(at);
    }

    void release() {
        if (believers_.empty())
            return;
        const std::size_t at = dice_.below(believers_.size());
        const Believer gone = believers_[at];
        believers_.erase(believers_.begin() + static_cast<std::ptrdiff_t>(at));
        const auto released =
            hall().book.release(name(gone.lock), gone.grant.id, std::nullopt, now_);
        if (gone.until > now_.steady && known(gone)) // nobody has taken it before its time
            REQUIRE(released.what == LockManager::Release::free);
    }

    void renew() {
        if (believers_.empty())
            return;
        Believer& believer = believers_[dice_.below(believers_.size())];
        std::optional<Duration> ttl;
        if (dice_.one_in(3))
            ttl = 1ms + Duration{dice_.shorter_than(longest_ttl - 1ms)};
        const auto renewed =
            hall().book.renew(name(believer.lock), believer.grant.id, {.ttl = ttl}, now_);
        if (!renewed) {
            REQUIRE((believer.until <= now_.steady || !known(believer)));
            return;
        }
        CHECK(renewed->fence == believer.grant.fence);
        if (hall().book.kept(*renewed) == LockManager::Durability::yes)
            believer.until = renewed->expires;
        else // it is told nothing, or that it failed; what it knew still holds
            believer.until = std::min(believer.until, renewed->expires);
    }

    // A process dies, and with it all that came on one connection.
    void kill() {
        const std::uint64_t connection_id = 1 + dice_.below(3);
        std::vector<Hash128> ids;
        std::erase_if(believers_, [&](const Believer& each) {
            if (each.connection_id != connection_id)
                return false;
            ids.push_back(each.grant.id);
            return true;
        });
        hall().book.end_for_connection(ids, connection_id, now_);
    }

    void check() {
        std::erase_if(believers_, [&](const Believer& each) { return each.until <= now_.steady; });
        for (std::size_t lock = 0; lock < max_.size(); ++lock) {
            const auto inside =
                static_cast<std::uint64_t>(std::ranges::count(believers_, lock, &Believer::lock));
            REQUIRE(inside <= max_[lock]);
            const auto state = hall().book.state_of(name(lock), now_);
            REQUIRE(state.has_value());
            REQUIRE(state->proxied == 0); // each slot in use is somebody's
            REQUIRE(state->held >= inside);
            REQUIRE(state->waiting == standing(lock));
            if (state->waiting > 0) // nobody waits for what nobody holds
                REQUIRE(state->held == max_[lock]);
        }
    }

    static constexpr Duration longest_ttl = 3s;

    Dice dice_;
    const bool with_state_;
    Now now_ = start;
    std::vector<std::uint64_t> max_;
    std::map<Hash128, SavedLease> file_;
    std::uint64_t file_fence_ = 0;
    std::uint64_t highest_ = 0;
    int lives_ = 0;
    std::vector<Believer> believers_;
    std::unique_ptr<Life> life_;
};

} // namespace

TEST_CASE("nobody is inside too much, nobody is forgotten, and fences rise, in any history") {
    for_each_seed(2000, [](std::uint64_t seed) {
        History history{seed};
        for (int i = 0; i < 300; ++i)
            history.step();
    });
}
