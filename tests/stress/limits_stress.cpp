// Many threads before the same limits. Time is virtual: every thread of a phase uses one `now`, so
// demand, not a stopwatch, decides what must be admitted.
#include "limits/limit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

namespace {

constexpr int threads = 8;
const Now start{SteadyTime{1'000'000s}, WallTime{1'700'000'000s}};

Now at(Duration since_start) {
    return {start.steady + since_start, start.wall + since_start};
}

LimitSpec window(Duration per, Anchor anchor = Anchor::first_request) {
    return {.identity = {.name = "w", .key = "", .anchor = anchor, .per = per}};
}

LimitSpec cap() {
    return {.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}};
}

LimitSpec by_key(LimitSpec spec, std::uint64_t max_keys) {
    spec.identity.key = "client_ip";
    spec.max_keys = max_keys;
    return spec;
}

Hash128 key(std::uint64_t number) {
    std::mt19937_64 random{number};
    const std::uint64_t high = random();
    return {high, random()};
}

// Runs `work(thread, phase)` on every thread, all in the same phase; `between(phase)` after each.
void run_phases(
    int phases,
    const std::function<void(int, int)>& work,
    const std::function<void(int)>& between) {
    int phase = 0;
    std::barrier barrier{threads, [&]() noexcept { between(phase++); }};
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            for (int own = 0; own < phases; ++own) {
                work(thread, own);
                barrier.arrive_and_wait();
            }
        });
}

} // namespace

TEST_CASE("exactly the quota is admitted in each window when demand exceeds it") {
    for (const Anchor anchor : {Anchor::first_request, Anchor::clock}) {
        Limit limit{window(1s, anchor)};
        constexpr std::uint64_t quota = 1000;
        std::atomic<std::uint64_t> admitted{0};
        std::vector<std::uint64_t> seen;

        run_phases(
            50,
            [&](int, int phase) {
                const Charge charge{&limit, {}, quota};
                for (int i = 0; i < 200; ++i)
                    admitted += admit({&charge, 1}, at(phase * 1s)).allowed();
            },
            [&](int) { seen.push_back(admitted.exchange(0)); });

        CHECK(std::ranges::all_of(seen, [&](std::uint64_t count) { return count == quota; }));
    }
}

TEST_CASE("exactly the quota of each key is admitted though other limits refuse at times") {
    Limit clients{by_key(window(1s), 100'000)};
    Limit total{window(1s)};
    Limit slots{cap()};
    constexpr std::uint64_t keys = 64;
    constexpr std::uint64_t quota = 20;
    std::vector<std::atomic<std::uint64_t>> admitted(keys);
    bool exact = true;

    run_phases(
        20,
        [&](int thread, int phase) {
            std::mt19937_64 random{static_cast<std::uint64_t>(phase * threads + thread)};
            for (int i = 0; i < 4000; ++i) {
                const std::uint64_t of = random() % keys;
                const bool tight = random() % 4 == 0; // a quota that is used up early on
                const Charge charges[] = {
                    {&clients, key(of), quota},
                    {&total, {}, tight ? 5u : 1'000'000u},
                    {&slots, {}, 3}};
                admitted[of] += admit(charges, at(phase * 1s)).allowed();
            }
            for (std::uint64_t of = 0; of < keys; ++of) // now that no slot is lacking for long
                for (std::uint64_t left = quota; left > 0;) {
                    const Charge charges[] = {
                        {&clients, key(of), quota}, {&total, {}, 1'000'000u}, {&slots, {}, 3}};
                    const Decision decision = admit(charges, at(phase * 1s));
                    admitted[of] += decision.allowed();
                    left = decision.refusal == Refusal::window ? 0 : left - decision.allowed();
                }
        },
        [&](int phase) {
            std::uint64_t sum = 0;
            for (auto& count : admitted)
                sum += count, exact = exact && count.exchange(0) == quota;
            exact = exact && total.state_of(Charge{}, at(phase * 1s)).used == sum;
        });

    CHECK(exact);
    CHECK(slots.in_flight() == 0);
}

TEST_CASE("two threads that are the first to use a limit, or one of its shards, count together") {
    constexpr std::uint64_t quota = 1;
    std::vector<std::unique_ptr<Limit>> fresh;
    for (int i = 0; i < 10'000; ++i)
        fresh.push_back(std::make_unique<Limit>(by_key(window(1s), 1'000'000)));
    std::vector<std::atomic<std::uint64_t>> admitted(fresh.size());
    std::array<std::atomic<std::size_t>, 2> places{};

    // In step without sleeping: a thread that was woken would come too late.
    const auto work = [&](std::size_t own) {
        for (std::size_t i = 0; i < fresh.size(); ++i)
            for (const std::uint64_t of : {1u, 2u}) { // in two shards
                const std::size_t place = ++places[own];
                for (int spins = 0; places[1 - own] < place; ++spins)
                    if (spins > 10'000)
                        std::this_thread::yield();
                const Charge charge{fresh[i].get(), key(of), quota};
                admitted[i] += admit({&charge, 1}, start).allowed();
            }
    };
    {
        const std::jthread other{work, 1};
        work(0);
    }

    CHECK(std::ranges::all_of(admitted, [](const auto& count) { return count == 2 * quota; }));
}

TEST_CASE("a cap is reached, never passed, and empty when all permits are back") {
    Limit slots{cap()};
    Limit of_client{by_key(cap(), 1'000'000)};
    constexpr std::uint64_t quota = 5;
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<std::uint64_t> refused{0};

    run_phases(
        1,
        [&](int thread, int) {
            std::mt19937_64 random{static_cast<std::uint64_t>(thread)};
            std::vector<Decision> held;
            for (int i = 0; i < 20'000; ++i) {
                if (!held.empty() && random() % 2 == 0) {
                    --inside;
                    held.back().permit.release(at(Duration{i}));
                    held.pop_back();
                    continue;
                }
                const Charge charges[] = {{&slots, {}, quota}, {&of_client, key(random() % 4), 2}};
                Decision decision = admit(charges, at(Duration{i}));
                if (!decision.allowed()) {
                    ++refused;
                    continue;
                }
                const int now_inside = ++inside;
                for (int seen = most; seen < now_inside;)
                    if (most.compare_exchange_weak(seen, now_inside))
                        break;
                held.push_back(std::move(decision));
            }
            inside -= static_cast<int>(held.size());
        },
        [](int) {});

    CHECK(most == static_cast<int>(quota));
    CHECK(refused > 0);
    CHECK(slots.in_flight() == 0);
    CHECK(of_client.in_flight() == 0);
    CHECK(of_client.live_keys(start) == 0);
}

TEST_CASE("a full table holds exactly as many keys as it may, window after window") {
    for (const std::uint64_t max_keys : {100u, 20'000u}) {
        CAPTURE(max_keys);
        Limit limit{by_key(window(1s), max_keys)};
        std::atomic<std::uint64_t> admitted{0};
        std::uint64_t most = 0;
        std::atomic<std::uint64_t> next{0};
        std::vector<std::uint64_t> seen;

        run_phases(
            6,
            [&](int, int phase) {
                for (std::uint64_t i = 0; i < max_keys / 4 + 100; ++i) {
                    const Charge charge{&limit, key(next++), 1};
                    admitted += admit({&charge, 1}, at(phase * 2s)).allowed();
                }
            },
            [&](int phase) {
                seen.push_back(limit.live_keys(at(phase * 2s)));
                most = std::max(most, admitted.exchange(0));
            });

        CHECK(most > max_keys); // the others are counted in the sketch

        for (const std::uint64_t count : seen)
            CHECK(count == max_keys);
    }
}

TEST_CASE("looking at a limit is safe while it is used and changed") {
    Limit limit{by_key(window(1ms), 10'000)};
    std::atomic<std::uint64_t> most_live{0};

    run_phases(
        1,
        [&](int thread, int) {
            for (int i = 0; i < 3000; ++i) {
                const Now now = at(Duration{1us} * i);
                const auto number = static_cast<std::uint64_t>(i * threads + thread);
                const Charge charge{&limit, key(number), 1};
                (void)admit({&charge, 1}, now);
                if (thread == 0 && i % 100 == 0)
                    limit.set_max_keys(5000 + static_cast<std::uint64_t>(i));
                if (thread == 1 && i % 20 == 0)
                    most_live = std::max(most_live.load(), limit.live_keys(now));
                (void)limit.state_of({nullptr, key(number), 1}, now);
            }
        },
        [](int) {});

    CHECK(most_live > 0);
    CHECK(most_live <= 10'000);
}

TEST_CASE("charges, refunds, releases and full tables at once lose no slot and grant no more than "
          "is due") {
    struct Kind {
        Algorithm algorithm;
        std::uint64_t max_keys;
    };
    for (const Kind& kind :
         {Kind{Algorithm::fixed_window, 20}, Kind{Algorithm::sliding_window, 20},
          Kind{Algorithm::token_bucket, 20}, Kind{Algorithm::sliding_window, 100'000},
          Kind{Algorithm::token_bucket, 100'000}}) {
        CAPTURE(static_cast<int>(kind.algorithm));
        LimitSpec spec = by_key(window(1s), kind.max_keys);
        spec.identity.algorithm = kind.algorithm;
        Limit requests{spec};
        Limit slots{by_key(cap(), 10)};
        Limit shadow{by_key(window(1s), 15)};
        constexpr std::uint64_t keys = 40;
        constexpr std::uint64_t quota = 12;
        std::vector<std::atomic<std::uint64_t>> kept(keys); // of this phase's window
        bool bounded = true;

        run_phases(
            12,
            [&](int thread, int phase) {
                std::mt19937_64 random{static_cast<std::uint64_t>(phase * threads + thread)};
                std::vector<std::pair<std::uint64_t, Decision>> held;
                const Now now = at(phase * 5s);
                for (int i = 0; i < 2500; ++i) {
                    if (!held.empty() && random() % 3 == 0) {
                        auto& [of, decision] = held.back();
                        if (random() % 2 == 0) {
                            decision.permit.refund(0, now);
                            --kept[of];
                        }
                        if (random() % 2 == 0)
                            decision.permit.release(now);
                        held.pop_back();
                        continue;
                    }
                    const std::uint64_t of = random() % keys;
                    const Charge charges[] = {
                        {.limit = &requests, .key = key(of), .quota = quota, .refundable = true},
                        {.limit = &slots, .key = key(of), .quota = 3},
                        {.limit = &shadow, .key = key(of), .quota = 5, .enforce = false}};
                    ++kept[of]; // before it is: so that no other thread sees too few
                    Decision decision = admit(charges, now);
                    if (decision.allowed())
                        held.emplace_back(of, std::move(decision));
                    else
                        --kept[of];
                    if (i % 200 == 0)
                        requests.set_max_keys(kind.max_keys + random() % 10);
                    if (i % 250 == 0)
                        (void)requests.state_of({nullptr, key(of), quota}, now);
                }
            },
            [&](int) {
                for (auto& count : kept)
                    bounded = bounded && count.exchange(0) <= quota;
            });

        CHECK(bounded);
        CHECK(slots.in_flight() == 0);
    }
}
