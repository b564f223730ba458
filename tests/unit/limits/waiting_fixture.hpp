// What the tests of waiting share: a room on the test's own time, and waiters by name.
#pragma once

#include "fixture.hpp"
#include "limits/queue/admission_queue.hpp"

#include <array>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::limits::test {

struct Post final : Mailbox {
    void notify() noexcept override { ++rings; }
    int rings = 0;
};

struct Alarm final : WakeupScheduler {
    void schedule(SteadyTime at) noexcept override { next = std::min(next, at); }
    void run_now() noexcept override {
        next = SteadyTime::min();
        if (at_once)
            at_once();
    }
    SteadyTime next = SteadyTime::max();
    std::function<void()> at_once;
};

struct Named : Waiter {
    Named(Mailbox& owner, std::string text) : Waiter{owner}, name{std::move(text)} {}
    std::string name;
};

struct Want {
    Limit* limit = nullptr;
    std::uint64_t quota = 1;
    Hash128 key{};
    std::optional<Duration> max_wait = Duration{10s}; // nothing: the limit refuses
    std::uint64_t max_waiting = 1000;
    std::uint64_t cost = 1;
    bool pace = false;
    std::string_view text{}; // of the key
    std::uint64_t burst = 0;
};

using Entered = AdmissionQueue::Entered;

class Hall {
  public:
    ~Hall() {
        for (Named& waiter : waiters)
            room.leave(waiter, start);
    }

    // "a1" shares its turns with all waiters whose names begin with "a".
    Entered enter(const std::string& name, const std::vector<Want>& wants, const Now& now) {
        Named& waiter = waiters.emplace_back(post, name);
        ask_for(wants, waiter);
        return room.enter(waiter, now);
    }
    Entered enter(const std::string& name, const Want& want, const Now& now) {
        return enter(name, std::vector<Want>{want}, now);
    }
    // At the start, in this order, whatever the answers are.
    void enter_all(std::initializer_list<const char*> names, const Want& want) {
        for (const char* const name : names)
            (void)enter(name, want, at(0s));
    }
    // Returns what enter() would answer a waiter of this name.
    AdmissionQueue::Preview
    preview(const std::vector<Want>& wants, const Now& now, const std::string& name = "a") {
        Named waiter{post, name};
        ask_for(wants, waiter);
        return room.preview(waiter.charges, waiter.terms, now, states);
    }
    AdmissionQueue::Preview
    preview(const Want& want, const Now& now, const std::string& name = "a") {
        return preview(std::vector<Want>{want}, now, name);
    }

    static void ask_for(const std::vector<Want>& wants, Named& waiter) {
        for (const Want& want : wants) {
            waiter.charges.push_back(
                {.limit = want.limit,
                 .key = want.key,
                 .quota = want.quota,
                 .burst = want.burst,
                 .cost = want.cost,
                 .pace = want.pace});
            waiter.terms.push_back(
                {want.max_wait.has_value(), want.max_wait.value_or(Duration{}), want.max_waiting,
                 test::key(static_cast<unsigned char>(waiter.name.front()))});
            if (!want.text.empty())
                waiter.terms.back().key = want.text;
        }
    }

    // The waiters that open() lets go, in order; those that it refuses as "!name".
    std::string open(const Now& now) {
        next = room.open(now);
        return collected();
    }
    std::string collected() {
        std::string names;
        Waiters over;
        room.collect(post, over);
        over.clear_and_dispose([&](Waiter* waiter) {
            names.append(names.empty() ? "" : " ")
                .append(waiter->decision.allowed() ? "" : "!")
                .append(static_cast<Named*>(waiter)->name);
        });
        return names;
    }
    Named& waiter(const std::string& name) {
        for (Named& each : waiters)
            if (each.name == name)
                return each;
        throw std::runtime_error{"nobody is called " + name};
    }

    Alarm alarm;
    AdmissionQueue room{alarm};
    Post post;
    std::deque<Named> waiters;
    SteadyTime next{};
    std::array<ChargeState, max_charges> states; // as preview() found them
};

// A cap of one slot: "a1" had it until 1 s, and "a2" waits for it.
struct ReleasedSlot {
    ReleasedSlot() {
        hall.enter_all({"a1", "a2"}, one);
        hall.waiter("a1").decision.permit.release(at(1s));
    }
    Limit limit{cap()};
    Hall hall;
    Want one{.limit = &limit};
};

// A request to which two limits apply: it waits for the first, and the second refuses it at once.
struct WaitingAndRefusing {
    Limit first{window(1s)};
    Limit second{window(30s)};
    Hall hall;
    Want waits{.limit = &first};
    Want refuses{.limit = &second, .max_wait = std::nullopt};
};

} // namespace stint::limits::test
