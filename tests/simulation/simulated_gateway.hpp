// One gateway of a simulation: its clocks, its way to the store, its clients.
#pragma once

#include "redis/sentinel_votes.hpp"
#include "simulation.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::shared {

inline constexpr Instant wall_base =
    1'800'000'000'000'000'000; // the first instant since the Unix epoch

struct Simulation::Gateway final : Transport, ShareListener {
    Gateway(Simulation& simulation, int index_) : of{simulation}, index{index_} {}

    void send(Call call) override {
        const bool returns =
            !call.counter.empty() && call.arguments[8] == "0" && call.arguments[9] == "0";
        if (of.calls_by_counter_ && !call.counter.empty()) {
            call.arguments[7] = std::to_string(++calls_of[call.counter]);
            if (returns)
                calls_of.erase(call.counter); // the counter is forgotten
        }
        if (of.keep_history_) {
            std::string text = "g" + std::to_string(index) + " sends";
            for (const auto& each : call.arguments)
                text += " " + each;
            of.note(text);
        }
        const auto life_ = life;
        const std::optional<std::size_t> to = primary();
        if (!to)
            return; // nobody says who it is
        followed = *to;
        Instant& repeat = call.counter.empty()                 ? repeat_beat_after
                          : returns && repeat_return_after > 0 ? repeat_return_after
                                                               : repeat_after;
        if (repeat > 0)
            of.at(of.now_ + std::exchange(repeat, 0), [this, life_, to, call] {
                of.deliver(index, life_, *to, call);
            });
        const int copies = of.terms_.faults && of.chance(0.01) ? 2 : 1;
        for (int i = 0; i < copies; ++i) {
            if (lossy && of.chance(0.3))
                continue;
            of.at(of.now_ + of.delay(*this), [this, life_, to, call] {
                const Instant until = call.counter.empty() ? lose_beats_until : lose_syncs_until;
                const bool lost = of.now_ < until;
                if (of.now_ >= cut_until && !lost)
                    of.deliver(index, life_, *to, call);
            });
        }
    }

    void answered(const std::string& counter) override {
        of.at(of.now_, [this, life_ = life, counter] {
            if (life == life_)
                of.retry(*this, counter);
        });
    }
    void failed(const std::string& counter) override { waiting.erase(counter); }

    void session_moved() override {
        if (client == nullptr)
            return;
        const Session& session = client->session();
        for (const limits::LimitPtr& limit : limits) {
            limit->share_policy().end_at(
                of.shares_outlive_sessions_ ? SteadyTime::max() - Duration{1} : session.ends_at());
            limit->share_policy().set_asking(session.state() == SessionState::active);
        }
    }

    // The primary that calls go to, by its number.
    [[nodiscard]] std::optional<std::size_t> primary() const {
        if (of.terms_.sentinels == 0)
            return 0;
        const auto named =
            votes.primary(now().steady - longest_confirmation(of.terms_.time_to_live));
        return named ? std::optional<std::size_t>{named->port} : std::nullopt;
    }

    [[nodiscard]] Now now() const {
        const auto steady = static_cast<std::int64_t>(static_cast<double>(of.now_) * rate);
        return {
            SteadyTime{std::chrono::hours{1} + Duration{steady + of.passed_}},
            WallTime{Duration{wall_base + of.now_ + of.passed_ + wall_offset}}};
    }

    Simulation& of;
    int index;
    int name = index;                        // as `gateway_id`
    std::uint64_t number = of.terms_.number; // in its file
    std::uint64_t burst = of.terms_.burst;   // in its file
    std::uint64_t life = 0;                  // 0: does not run
    double rate = 1;
    Duration time_to_live{};
    std::int64_t wall_offset = 0;
    std::vector<limits::LimitPtr> limits; // one for each key
    std::unique_ptr<ShareClient> client;
    Instant paused_until = 0;
    Instant cut_until = 0; // off the network
    Instant lose_syncs_until = 0;
    Instant lose_beats_until = 0;
    Instant repeat_beat_after = 0; // 0: the next beat arrives once
    bool lossy = false;
    Instant slow_until = 0;
    Instant busy_until = 0;
    Instant idle_until = 0;
    Instant ticks_at = -1;
    std::vector<std::pair<Instant, Instant>> busy_times; // if any: when it has clients
    Instant repeat_after = 0;
    Instant repeat_return_after = 0;
    std::map<std::string, std::uint64_t> calls_of; // by counter; see number_calls_by_counter()
    bool leaving = false;
    std::map<std::string, std::vector<std::pair<int, Instant>>> waiting; // key, since; by counter
    redis::SentinelVotes votes{of.terms_.majority ? of.terms_.sentinels : 1};
    std::vector<Instant> no_sentinel_until = std::vector<Instant>(of.terms_.sentinels);
    std::size_t believes = static_cast<std::size_t>(index); // without a majority: a Sentinel
    std::size_t followed = 0; // the primary of its latest call: replies of another one are lost
};

} // namespace stint::shared
