// Gateways under load: each has a store's client, some limits, and clients that ask as fast as they
// can; and what they may be admitted.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stint::stores::test {

// What all gateways together have admitted of one limit.
class Row {
  public:
    explicit Row(Terms of) : terms{std::move(of)} {}

    void add(SteadyTime at) {
        const std::lock_guard lock{mutex_};
        admitted_.push_back(at);
    }
    // Admissions so far, in order of time.
    [[nodiscard]] std::vector<SteadyTime> admitted() {
        const std::lock_guard lock{mutex_};
        std::ranges::sort(admitted_);
        return admitted_;
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard lock{mutex_};
        return admitted_.size();
    }
    [[nodiscard]] std::size_t count_within(SteadyTime from, Duration length) {
        const std::vector<SteadyTime> all = admitted();
        return static_cast<std::size_t>(std::ranges::count_if(
            all, [&](SteadyTime at) { return from <= at && at < from + length; }));
    }
    // The most admissions in any span of `per`.
    [[nodiscard]] std::size_t most_in_a_span() {
        const std::vector<SteadyTime> all = admitted();
        std::size_t most = 0;
        for (std::size_t from = 0, to = 0; to < all.size(); ++to) {
            while (all[to] - all[from] >= terms.per)
                ++from;
            most = std::max(most, to + 1 - from);
        }
        return most;
    }
    // The most tokens that any span took beyond what flowed in: at most the burst.
    [[nodiscard]] double most_tokens() {
        const double rate =
            static_cast<double>(terms.number) / static_cast<double>(terms.per.count());
        double most = 0;
        double debt = 0;
        SteadyTime last{};
        for (const SteadyTime at : admitted()) {
            debt = std::max(0.0, debt - rate * static_cast<double>((at - last).count())) + 1;
            most = std::max(most, debt);
            last = at;
        }
        return most;
    }
    // The promise, by the algorithm; the number that it allows.
    void check_promise() {
        INFO(terms.name);
        if (terms.algorithm == limits::Algorithm::sliding_window)
            CHECK(most_in_a_span() <= terms.number);
        if (terms.algorithm == limits::Algorithm::fixed_window)
            CHECK(most_in_a_span() <= 2 * terms.number);
        if (terms.algorithm == limits::Algorithm::token_bucket)
            CHECK(most_tokens() <= static_cast<double>(terms.burst) + 1e-6);
        CHECK(most_held.load() <= static_cast<int>(terms.number));
    }

    const Terms terms;
    std::atomic<int> held{0}; // of a cap
    std::atomic<int> most_held{0};

  private:
    std::mutex mutex_;
    std::vector<SteadyTime> admitted_;
};

class Crowd {
  public:
    Crowd(const std::vector<StoreSettings>& gateways, const std::vector<Terms>& limits) {
        for (const Terms& each : limits)
            rows_.push_back(std::make_unique<Row>(each));
        for (const StoreSettings& each : gateways)
            members_.push_back(std::make_unique<Member>(each, limits));
        for (const auto& each : members_)
            each->thread = std::thread{[this, &member = *each] { ask(member); }};
    }
    ~Crowd() { stop(); }

    // From now on only these gateways' clients ask.
    void only(std::initializer_list<std::size_t> gateways) {
        for (std::size_t i = 0; i < members_.size(); ++i)
            members_[i]->busy = std::ranges::find(gateways, i) != gateways.end();
    }
    // Ends the load, then the stores.
    void stop() {
        ends_ = true;
        for (const auto& each : members_)
            if (each->thread.joinable())
                each->thread.join();
        for (const auto& each : members_)
            each->store.stop();
    }
    [[nodiscard]] Row& row(std::size_t index) { return *rows_[index]; }
    [[nodiscard]] Store& store(std::size_t index) { return members_[index]->store; }
    void await_admissions() {
        for (const auto& row : rows_) {
            const std::size_t before = row->count();
            await([&] { return row->count() > before; }, "nothing is admitted");
        }
    }
    // Returns the longest time for which a gateway's clients did not run since the last call: the
    // demand is steady only on a machine that lets them.
    [[nodiscard]] Duration longest_pause() { return Duration{longest_pause_.exchange(0)}; }
    void check_promises() {
        for (const auto& row : rows_)
            row->check_promise();
    }

  private:
    struct Held {
        SteadyTime until;
        limits::Permit permit;
    };
    struct Member {
        Member(const StoreSettings& with, const std::vector<Terms>& limits) : store{with} {
            for (const Terms& each : limits) {
                clients.push_back(std::make_unique<Client>(store, each));
                store.serve(clients.back()->limit(), limits::OnStoreFailure::share);
            }
            store.start();
        }
        Store store;
        std::vector<std::unique_ptr<Client>> clients;
        std::deque<Held> held;
        std::atomic<bool> busy{true};
        std::thread thread;
    };

    void ask(Member& member) {
        for (SteadyTime last = net::read_steady_clock(); !ends_;) {
            const SteadyTime now = net::read_steady_clock();
            const std::int64_t pause = (now - std::exchange(last, now)).count();
            for (std::int64_t most = longest_pause_; most < pause;)
                if (longest_pause_.compare_exchange_weak(most, pause))
                    break;
            for (std::size_t i = 0; member.busy && i < rows_.size(); ++i)
                for (int tries = 0; tries < 50 && ask(member, i); ++tries)
                    ;
            release(member, net::read_steady_clock());
            std::this_thread::sleep_for(100us);
        }
        release(member, SteadyTime::max());
    }
    bool ask(Member& member, std::size_t index) {
        Row& row = *rows_[index];
        const Now now = net::read_clocks();
        const bool cap = row.terms.algorithm == limits::Algorithm::concurrency;
        if (cap)
            release(member, now.steady);
        limits::Decision decision = member.clients[index]->request(now);
        if (!decision.allowed())
            return false;
        row.add(now.steady);
        if (!cap)
            return true;
        cap_ = &row;
        const int held = ++row.held;
        for (int most = row.most_held; most < held;)
            if (row.most_held.compare_exchange_weak(most, held))
                break;
        member.held.push_back({now.steady + 20ms, std::move(decision.permit)});
        return true;
    }
    void release(Member& member, SteadyTime now) {
        while (!member.held.empty() && member.held.front().until <= now) {
            --cap_.load()->held;
            member.held.pop_front();
        }
    }

    std::vector<std::unique_ptr<Row>> rows_;
    std::vector<std::unique_ptr<Member>> members_;
    std::atomic<Row*> cap_{nullptr};
    std::atomic<bool> ends_{false};
    std::atomic<std::int64_t> longest_pause_{0};
};

inline std::vector<StoreSettings> settings_of(const RedisProcess& server, int gateways) {
    std::vector<StoreSettings> all;
    for (int i = 0; i < gateways; ++i)
        all.push_back(settings(server, "gw" + std::to_string(i)));
    return all;
}

} // namespace stint::stores::test
