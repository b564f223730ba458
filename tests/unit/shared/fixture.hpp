// A gateway's part in one shared limit, on the test's own time: the test is the store.
#pragma once

#include "limits/limit.hpp"
#include "shared/share_client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace stint::shared::test {

using namespace std::chrono_literals;

struct Gateway : Transport, ShareListener {
    void send(Call call) override { calls.push_back(std::move(call)); }
    void answered(const std::string& counter) override { log += "answered " + counter + "; "; }
    void failed(const std::string& counter) override { log += "failed " + counter + "; "; }
    void trusted(bool taken) override { log += taken ? "trusted; " : "not trusted; "; }
    void session_moved() override {
        limit->share_policy().end_at(client.session().ends_at());
        limit->share_policy().set_asking(client.session().state() == SessionState::active);
    }

    // The latest call of the operation.
    [[nodiscard]] const Call& last(const std::string& operation) const {
        for (auto each = calls.rbegin(); each != calls.rend(); ++each)
            if (each->arguments[0] == operation)
                return *each;
        throw std::logic_error{"there is no " + operation};
    }
    [[nodiscard]] std::size_t count(const std::string& operation) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            calls, [&](const Call& each) { return each.arguments[0] == operation; }));
    }
    [[nodiscard]] std::size_t syncs() const { return count("sync"); }
    // Return what the latest sync holds, and what it wants.
    [[nodiscard]] std::string hold() const { return last("sync").arguments.at(8); }
    [[nodiscard]] std::string wants() const { return last("sync").arguments.at(9); }
    void pass(Duration time) {
        now.steady += time;
        now.wall += time;
    }
    // Calls tick() as its result says, for so long.
    void run(Duration time) {
        const SteadyTime end = now.steady + time;
        for (SteadyTime next = client.tick(now); next < end; next = client.tick(now)) {
            pass(std::max<Duration>(next - now.steady, 1ms));
            ++ticks;
        }
        pass(end - now.steady);
    }
    [[nodiscard]] Reply beat_reply(const std::string& word = "ok") const {
        return {
            word,
            std::int64_t{1000},
            std::string{"1-1"},
            std::string{"a"},
            std::int64_t{1},
            std::int64_t{1},
            std::int64_t{0},
            std::string{"s:gw"}};
    }
    [[nodiscard]] Reply
    sync_reply(std::int64_t grant, std::int64_t part = 0, std::int64_t recalls = 0) const {
        return {
            std::string{"ok"},
            std::int64_t{1000},
            std::string{"1-1"},
            grant,
            part,
            std::int64_t{0},
            std::int64_t{0},
            std::int64_t{10},
            std::int64_t{0},
            std::string{"a"},
            std::int64_t{1},
            recalls};
    }
    // Answers the latest call of the reply's operation.
    void answer(const std::string& operation, const Reply& reply) {
        const std::uint64_t number = last(operation).number;
        client.answered(number, reply, now);
    }
    void answer(const Reply& reply) { answer("sync", reply); }
    // Answers all beats that are on their way; other calls stay.
    void answer_beats() {
        for (const Call& each : std::vector<Call>{calls})
            if (each.arguments[0] == "beat")
                client.answered(each.number, beat_reply(), now);
    }
    void join() {
        client.tick(now);
        answer("beat", beat_reply());
        CHECK(client.session().state() == SessionState::active);
    }
    [[nodiscard]] std::string need() const { return last("sync").arguments.at(16); }
    Wanted want(std::uint64_t cost = 1) { return client.want("c", counter(), cost, now); }
    [[nodiscard]] SharedCounter counter() const { return {.limit = limit, .numbers = {10, 0}}; }
    limits::Decision request(std::uint64_t cost = 1) {
        limits::Charge charge;
        charge.cost = cost;
        charge.limit = limit.get();
        charge.quota = 10;
        return limits::admit({&charge, 1}, now);
    }
    static limits::LimitPtr
    make_limit(limits::Algorithm algorithm = limits::Algorithm::sliding_window, Duration per = 1s) {
        limits::LimitSpec spec;
        spec.identity = {.name = "api", .key = {}, .algorithm = algorithm, .per = per};
        spec.quota = 10;
        auto made = std::make_shared<limits::Limit>(spec);
        made->share_policy().reserve_without_share({});
        return made;
    }

    Now now{SteadyTime{1h}, WallTime{1000h}};
    limits::LimitPtr limit = make_limit();
    std::vector<Call> calls;
    std::string log;
    int ticks = 0; // by run()
    ShareClient client{
        {.gateway = "gw", .session = "s", .time_to_live = 30s, .timeout = 1s}, *this, *this};
};

} // namespace stint::shared::test
