// Shared counters on the test's own time: a store that answers within the call, late, or never.
#pragma once

#include "limits/limit.hpp"
#include "limits/shared/shared_charges.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace stint::test {

class FakeSharedCounters final : public limits::SharedCounters {
  public:
    // How the next requests are answered.
    struct Script {
        enum class Way : std::uint8_t {
            at_once,     // within the call
            late,        // after `delay`, as the store decides when it gets the request
            lost_before, // the request never reaches the store; its connection fails after `delay`
            lost_after,  // the store decides, and its answer is lost; undone after `delay`
        };
        Way way = Way::at_once;
        Duration delay{};
        bool refuse = false; // whatever the counters say
    };

    Script script;
    limits::SharedCharges charges{*this};

    void charge(
        std::uint64_t number,
        std::span<const limits::Charge> posted,
        SteadyTime,
        const Now& now) noexcept override {
        Request& request = requests_[number];
        request.charges.assign(posted.begin(), posted.end());
        request.due = now.steady + script.delay;
        if (script.way != Script::Way::lost_before)
            decide(request);
        request.lost =
            script.way == Script::Way::lost_before || script.way == Script::Way::lost_after;
        if (script.way == Script::Way::at_once)
            answer(number);
    }
    void cancel(std::uint64_t number) noexcept override { cancelled_.push_back(number); }
    void give_back(const limits::SharedGrant& grant) noexcept override {
        const std::lock_guard lock{mutex_};
        const auto granted = granted_.find({grant.number, grant.index});
        // Nothing that was not granted, and nothing twice.
        wrong_ += granted == granted_.end() || granted->second.second < grant.cost ||
                          granted->second.first.first != grant.limit->ordinal()
                      ? 1
                      : 0;
        if (granted == granted_.end())
            return;
        used_[granted->second.first] -= grant.cost;
        granted->second.second -= grant.cost;
    }

    // Answers what is due.
    void deliver(const Now& now) {
        std::vector<std::uint64_t> due;
        for (const auto& [number, request] : requests_)
            if (request.due <= now.steady)
                due.push_back(number);
        for (const std::uint64_t number : due)
            answer(number);
    }

    // What the store counts: windows that never end, and slots.
    [[nodiscard]] std::uint64_t used(const limits::Limit& limit, Hash128 key = {}) const {
        const std::lock_guard lock{mutex_};
        const auto found = used_.find({limit.ordinal(), key});
        return found != used_.end() ? found->second : 0;
    }
    // The same of all keys together.
    [[nodiscard]] std::uint64_t used_of_all(const limits::Limit& limit) const {
        const std::lock_guard lock{mutex_};
        std::uint64_t sum = 0;
        for (const auto& [name, used] : used_)
            sum += name.first == limit.ordinal() ? used : 0;
        return sum;
    }
    [[nodiscard]] std::size_t unanswered() const { return requests_.size(); }
    [[nodiscard]] int wrong() const { return wrong_; }
    [[nodiscard]] const std::vector<std::uint64_t>& cancelled() const { return cancelled_; }

  private:
    using CounterName = std::pair<std::uint64_t, Hash128>; // the limit's ordinal, the key
    using Granted = std::pair<CounterName, std::uint64_t>; // what is charged, less what came back
    struct Request {
        std::vector<limits::Charge> charges;
        SteadyTime due{};
        limits::SharedAnswer answer;
        std::vector<std::pair<std::size_t, Granted>> granted; // by the charge's index
        bool lost = false;
    };

    static CounterName name_of(const limits::Charge& charge) {
        return {charge.limit->ordinal(), charge.limit->keyed() ? charge.key : Hash128{}};
    }

    void decide(Request& request) {
        const std::lock_guard lock{mutex_};
        limits::SharedAnswer& answer = request.answer;
        answer.outcome = limits::SharedAnswer::Outcome::granted;
        for (std::size_t i = 0; i < request.charges.size(); ++i) {
            const limits::Charge& charge = request.charges[i];
            const bool full = used_[name_of(charge)] + charge.cost > charge.quota || script.refuse;
            if (full && !charge.enforce)
                answer.would_refuse |= 1U << i;
            if (!full || !charge.enforce)
                continue;
            answer.refusing |= 1U << i;
            if (answer.outcome == limits::SharedAnswer::Outcome::refused)
                continue; // the first is the one to wait for
            answer.outcome = limits::SharedAnswer::Outcome::refused;
            answer.refused_by = i;
            answer.retry_after = std::chrono::seconds{7};
        }
        if (answer.outcome != limits::SharedAnswer::Outcome::granted)
            answer.would_refuse = 0;
        for (std::size_t i = 0; i < request.charges.size(); ++i) {
            const limits::Charge& charge = request.charges[i];
            std::uint64_t& used = used_[name_of(charge)];
            if (answer.outcome == limits::SharedAnswer::Outcome::granted &&
                (answer.would_refuse >> i & 1U) == 0) {
                used += charge.cost;
                request.granted.push_back({i, {name_of(charge), charge.cost}});
            }
            answer.counters.push_back(
                {used, charge.quota > used ? charge.quota - used : 0, std::chrono::seconds{7}});
        }
    }

    void answer(std::uint64_t number) {
        auto node = requests_.extract(number);
        Request& request = node.mapped();
        {
            const std::lock_guard lock{mutex_};
            for (const auto& [index, grant] : request.granted)
                if (request.lost)
                    used_[grant.first] -= grant.second;
                else
                    granted_[{number, index}] = grant;
        }
        charges.answer(number, request.lost ? limits::SharedAnswer{} : request.answer);
    }

    mutable std::mutex mutex_; // give_back() may come from any thread
    std::map<std::uint64_t, Request> requests_;
    std::map<CounterName, std::uint64_t> used_;
    std::map<std::pair<std::uint64_t, std::size_t>, Granted> granted_; // number, index
    std::vector<std::uint64_t> cancelled_;
    int wrong_ = 0;
};

} // namespace stint::test
