// One counter of each algorithm, naively: lists of what was charged, added up for each question.
// Time is a number of nanoseconds, and never runs backwards.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace stint::limits::test::model {

__extension__ using Int = __int128;
using Id = std::uint64_t; // of one charge

inline std::int64_t ns(const Now& now) {
    return now.steady.time_since_epoch().count();
}
inline std::int64_t ns(Duration length) {
    return length.count();
}
inline std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}
// Rounded up; the dividend may be negative.
inline std::int64_t divided(Int dividend, Int divisor) {
    return static_cast<std::int64_t>(dividend / divisor + (dividend % divisor > 0 ? 1 : 0));
}

struct Ask {
    std::uint64_t quota = 1;
    std::uint64_t burst = 0; // 0 = the quota
    std::uint64_t cost = 1;
    bool pace = false;
    std::int64_t late = 0; // could have gone so much earlier

    [[nodiscard]] std::uint64_t most() const { return burst == 0 || pace ? quota : burst; }
};

struct Answer {
    Refusal refusal = Refusal::none;
    std::int64_t wait = 0;
};
inline constexpr Answer costs_too_much{Refusal::cost, std::numeric_limits<std::int64_t>::max()};

class Counter {
  public:
    Counter() = default;
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    virtual ~Counter() = default;
    virtual Answer ask(const Ask& of, std::int64_t now) = 0;
    // The same, and nothing changes: another number takes effect when somebody asks.
    virtual Answer look(const Ask& of, std::int64_t now) { return ask(of, now); }
    virtual void charge(const Ask& of, std::int64_t now, Id id) = 0;
    // Its number has risen, as the next one who asks finds; or it has been lowered.
    virtual void raise(const Ask&, std::int64_t) {}
    virtual void lower(const Ask&, std::int64_t) {}
    // How long to wait for a larger share; 0: for `per`.
    [[nodiscard]] virtual std::int64_t opens_in(std::int64_t) const { return 0; }
    virtual void give_back(Id id, std::uint64_t cost, std::int64_t now) = 0;
    [[nodiscard]] virtual std::uint64_t used(std::uint64_t quota, std::int64_t now) const = 0;
    [[nodiscard]] virtual bool live(std::int64_t now) const = 0; // takes the place of a key
};

struct Record {
    Id id;
    std::uint64_t cost;  // what has not been given back
    std::int64_t at = 0; // counts as if it had come then
};
using Records = std::vector<Record>;

inline std::uint64_t sum(const Records& records) {
    std::uint64_t all = 0;
    for (const Record& record : records)
        all += record.cost;
    return all;
}
// False if it is not there any more.
inline bool reduce(Records& records, Id id, std::uint64_t cost) {
    const auto found = std::ranges::find(records, id, &Record::id);
    if (found == records.end())
        return false;
    found->cost -= cost;
    if (found->cost == 0)
        records.erase(found);
    return true;
}

// Anchor::clock: the window that all keys share, between two multiples of its length.
struct SharedWindow {
    std::int64_t end = 0;                                         // steady
    std::int64_t last = std::numeric_limits<std::int64_t>::min(); // the multiple that it ends with
    std::uint64_t serial = 0;

    static std::int64_t multiple_after(const Now& now, std::int64_t per) {
        const std::int64_t wall = now.wall.time_since_epoch().count();
        return wall / per - (wall % per < 0 ? 1 : 0) + 1;
    }
    [[nodiscard]] bool open_at(const Now& now, std::int64_t per) const {
        return end > ns(now) && multiple_after(now, per) <= last;
    }
    // A stretch that the last window covered already is joined to the one after it.
    void look(const Now& now, std::int64_t per) {
        if (open_at(now, per))
            return;
        std::int64_t next = multiple_after(now, per);
        const auto steady_at = [&](std::int64_t multiple) {
            return ns(now) + (multiple * per - now.wall.time_since_epoch().count());
        };
        if (next <= last && steady_at(next - 1) < end)
            ++next;
        end = steady_at(next);
        last = next;
        ++serial;
    }
};

class FixedWindow : public Counter {
  public:
    FixedWindow(std::int64_t per, const SharedWindow* shared) : per_{per}, shared_{shared} {}

    Answer ask(const Ask& of, std::int64_t now) override {
        if (of.cost > of.quota)
            return costs_too_much;
        if (!live(now)) {
            open_ = false;
            records_.clear();
        }
        const std::int64_t end = shared_ != nullptr ? shared_->end : open_ ? end_ : now + per_;
        const std::uint64_t before = sum(records_);
        if (before + of.cost > of.quota)
            return {Refusal::window, end - now};
        const std::int64_t turn = end - per_ + divided(Int{per_} * before, of.quota);
        if (of.pace && before > 0 && turn > now)
            return {Refusal::pace, turn - now};
        return {};
    }
    void charge(const Ask& of, std::int64_t now, Id id) override {
        if (!open_) {
            open_ = true;
            end_ = now + per_;
            serial_ = shared_ != nullptr ? shared_->serial : 0;
        }
        records_.push_back({id, of.cost});
    }
    void give_back(Id id, std::uint64_t cost, std::int64_t) override { reduce(records_, id, cost); }

    std::uint64_t used(std::uint64_t, std::int64_t now) const override {
        return live(now) ? sum(records_) : 0;
    }
    std::int64_t opens_in(std::int64_t now) const override {
        return shared_ != nullptr ? shared_->end - now : live(now) ? end_ - now : 0;
    }
    bool live(std::int64_t now) const override {
        return open_ && (shared_ != nullptr ? shared_->serial == serial_ : end_ > now);
    }

  private:
    std::int64_t per_;
    const SharedWindow* shared_;
    bool open_ = false;
    std::int64_t end_ = 0;     // of a window of its own
    std::uint64_t serial_ = 0; // of the shared one
    Records records_;
};

class SlidingWindow : public Counter {
  public:
    explicit SlidingWindow(std::int64_t per) : per_{per} {}

    Answer ask(const Ask& of, std::int64_t now) override {
        if (of.cost > of.quota)
            return costs_too_much;
        forget(now);
        std::uint64_t left = sum(records_);
        const bool full = left + of.cost > of.quota;
        std::int64_t until = now;
        for (const Record& record : records_) { // as one after the other leaves
            if (left + of.cost <= of.quota)
                break;
            left -= record.cost;
            until = record.at + per_;
        }
        const bool early = of.pace && paced_until_ > now;
        if (early)
            until = std::max(until, paced_until_);
        return {full ? Refusal::window : early ? Refusal::pace : Refusal::none, until - now};
    }
    void charge(const Ask& of, std::int64_t now, Id id) override {
        forget(now);
        std::int64_t began = now - of.late;
        if (!records_.empty())
            began = std::min(std::max(began, paced_until_), now);
        const std::int64_t part = std::max<std::int64_t>(per_ / 128, 1);
        if (of.quota > 128 && !records_.empty() && records_.back().at / part == now / part)
            for (const std::int64_t newest = records_.back().at; Record & record : records_)
                if (record.at == newest) // leaves with the last of its part
                    record.at = now;
        records_.push_back({id, of.cost, now});
        paced_until_ = of.pace ? began + divided(Int{per_} * of.cost, of.quota) : 0;
    }
    void give_back(Id id, std::uint64_t cost, std::int64_t now) override {
        forget(now);
        if (reduce(records_, id, cost) && records_.empty())
            paced_until_ = 0;
    }

    std::uint64_t used(std::uint64_t, std::int64_t now) const override {
        std::uint64_t all = 0;
        for (const Record& record : records_)
            all += record.at + per_ > now ? record.cost : 0;
        return all;
    }
    bool live(std::int64_t now) const override { return used(0, now) > 0 || paced_until_ > now; }

  private:
    void forget(std::int64_t now) {
        std::erase_if(records_, [&](const Record& record) { return record.at + per_ <= now; });
    }

    std::int64_t per_;
    std::int64_t paced_until_ = 0;
    Records records_; // in the order of their coming
};

// The instant at which time will have paid for all that was charged, exactly: in 1/rate ns.
class TokenBucket : public Counter {
  public:
    // forgets: what is paid for, as the counter of a key does.
    TokenBucket(std::int64_t per, bool forgets) : per_{per}, forgets_{forgets} {}

    void raise(const Ask& of, std::int64_t now) override {
        if (owed(now) <= 0 || of.quota <= rate_)
            return;
        const std::int64_t before = divided(paid_at_, rate_);
        turn_to(of.quota, now); // by which the end of each debt comes forward, at least
        returned_ += before - static_cast<std::int64_t>(paid_at_ / rate_);
    }
    // Only what may still be owed then.
    void lower(const Ask& of, std::int64_t now) override {
        if (of.quota > 0 && of.quota < rate_ && owed(now) > 0 && owed(now) <= Int{per_} * of.burst)
            turn_to(of.quota, now);
    }
    Answer ask(const Ask& of, std::int64_t now) override {
        raise(of, now);
        if (of.cost > of.most())
            return costs_too_much;
        const Int lacking = owed(now) - (of.pace ? 0 : Int{per_} * (of.most() - of.cost));
        if (owed(now) <= 0 || lacking <= 0)
            return {};
        return {of.pace ? Refusal::pace : Refusal::window, divided(lacking, rate_)};
    }
    Answer look(const Ask& of, std::int64_t now) override {
        const auto before = std::tuple{paid_at_, rate_, returned_};
        const Answer answer = ask(of, now);
        std::tie(paid_at_, rate_, returned_) = before;
        return answer;
    }
    void charge(const Ask& of, std::int64_t now, Id id) override {
        if (forgets_ && !live(now))
            paid_at_ = 0;
        turn_to(of.quota, now - of.late);
        paid_at_ += Int{per_} * of.cost;
        std::erase_if(debts_, [&](const Debt& debt) { return debt.until <= now; });
        debts_.push_back({id, static_cast<std::int64_t>(paid_at_ / rate_), returned_});
    }
    // Time pays for what came first. What it has paid for already does not come back: of a charge
    // is owed what lies before the instant it led to, less what was given back since, but by the
    // last charges, which move no other's instant.
    void give_back(Id id, std::uint64_t cost, std::int64_t now) override {
        const auto debt = std::ranges::find(debts_, id, &Debt::id);
        if (debt == debts_.end())
            return;
        const std::int64_t until = debt->until - (returned_ - debt->returned);
        const std::int64_t left = std::min(until, divided(paid_at_, rate_)) - now;
        if (left <= 0)
            return;
        const std::int64_t all = divided(Int{per_} * cost, rate_);
        const bool last = until >= static_cast<std::int64_t>(paid_at_ / rate_);
        paid_at_ -= all <= left ? Int{per_} * cost : Int{left} * rate_;
        (last ? debt->until : returned_) += (last ? -1 : 1) * std::min(all, left);
    }

    std::uint64_t used(std::uint64_t, std::int64_t now) const override {
        return owed(now) <= 0 ? 0 : static_cast<std::uint64_t>(divided(owed(now), per_));
    }
    bool live(std::int64_t now) const override { return divided(paid_at_, rate_) > now; }

  private:
    struct Debt {
        Id id;
        std::int64_t until;
        std::int64_t returned; // to the bucket, when it was charged
    };

    [[nodiscard]] Int owed(std::int64_t now) const { return paid_at_ - Int{now} * rate_; }
    // What is owed stays.
    void turn_to(std::uint64_t rate, std::int64_t now) {
        paid_at_ = Int{now} * rate + std::max(owed(now), Int{0});
        rate_ = rate;
    }

    std::int64_t per_;
    bool forgets_;
    Int paid_at_ = 0;
    std::uint64_t rate_ = 1;
    std::int64_t returned_ = 0;
    std::vector<Debt> debts_;
};

class Cap : public Counter {
  public:
    Answer ask(const Ask& of, std::int64_t) override {
        if (of.cost > of.quota)
            return costs_too_much;
        return {sum(held_) + of.cost > of.quota ? Refusal::cap : Refusal::none, 0};
    }
    void charge(const Ask& of, std::int64_t, Id id) override { held_.push_back({id, of.cost}); }
    void give_back(Id id, std::uint64_t cost, std::int64_t) override { reduce(held_, id, cost); }
    std::uint64_t used(std::uint64_t, std::int64_t) const override { return sum(held_); }
    bool live(std::int64_t) const override { return !held_.empty(); }

  private:
    Records held_;
};

} // namespace stint::limits::test::model
