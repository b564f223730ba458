// What an admission costs, alone and beside another thread on the same counter, and what a million
// live keys take. scripts/bench-limits runs it and says whether the targets are met.
#include "limits/counter/tally.hpp"
#include "limits/limit.hpp"

#include <benchmark/benchmark.h>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

constexpr std::uint64_t plenty = 1'000'000'000;
constexpr std::uint64_t million = 1'000'000;
const Now start{SteadyTime{1'000'000s}, WallTime{1'700'000'000s}};

LimitSpec spec(Algorithm algorithm, bool keyed) {
    LimitSpec spec;
    spec.identity.name = "limit";
    spec.identity.key = keyed ? "client_ip" : "";
    spec.identity.algorithm = algorithm;
    spec.identity.per = algorithm == Algorithm::concurrency ? Duration{} : Duration{1h};
    return spec;
}

// Spread like a keyed hash (the finaliser of splitmix64).
Hash128 key(std::uint64_t number) {
    const auto mix = [](std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    };
    return {mix(number * 2 + 1), mix(number * 2 + 2)};
}

Now after(std::uint64_t steps) {
    const Duration passed{static_cast<std::int64_t>(steps)};
    return {start.steady + passed, start.wall + passed};
}

void admit_steadily(benchmark::State& state, std::vector<Charge> charges) {
    std::uint64_t step = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(admit(charges, after(++step)).allowed());
}

void one(benchmark::State& state, Algorithm algorithm) {
    Limit limit{spec(algorithm, false)};
    admit_steadily(state, {{.limit = &limit, .quota = plenty}});
}

void one_keyed(benchmark::State& state, Algorithm algorithm) {
    Limit limit{spec(algorithm, true)};
    admit_steadily(state, {{.limit = &limit, .key = key(1), .quota = plenty}});
}

// A total, one for each client, one for each client by a token bucket, and a cap.
void four(benchmark::State& state) {
    Limit total{spec(Algorithm::fixed_window, false)};
    Limit client{spec(Algorithm::fixed_window, true)};
    Limit burst{spec(Algorithm::token_bucket, true)};
    Limit cap{spec(Algorithm::concurrency, false)};
    admit_steadily(
        state, {{.limit = &total, .quota = plenty},
                {.limit = &client, .key = key(1), .quota = plenty},
                {.limit = &burst, .key = key(1), .quota = plenty},
                {.limit = &cap, .quota = plenty}});
}

// Keys in no order, each live already: a lookup in a table that no cache holds.
void million_keys(benchmark::State& state, Algorithm algorithm) {
    Limit limit{spec(algorithm, true)};
    for (std::uint64_t i = 0; i < million; ++i) {
        const Charge charge{.limit = &limit, .key = key(i), .quota = plenty};
        (void)admit({&charge, 1}, start);
    }
    std::uint64_t step = 0;
    std::uint64_t random = 1;
    for (auto _ : state) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const Charge charge{.limit = &limit, .key = key((random >> 33) % million), .quota = plenty};
        benchmark::DoNotOptimize(admit({&charge, 1}, after(++step)).allowed());
    }
}

// All threads on one counter whose limit they reach: what each of them sees an admission take, and
// how many were admitted, which is to be the limit.
constexpr std::uint64_t contended_each = 2'000'000;
constexpr std::uint64_t contended_quota = 3'000'000;

void contended(benchmark::State& state, bool keyed) {
    static std::unique_ptr<Limit> limit;
    if (state.thread_index() == 0)
        limit = std::make_unique<Limit>(spec(Algorithm::fixed_window, keyed));
    std::uint64_t step = 0;
    std::uint64_t admitted = 0;
    std::chrono::steady_clock::time_point begun{};
    for (auto _ : state) { // the threads begin and end together
        if (step == 0)
            begun = std::chrono::steady_clock::now();
        const Charge charge{
            .limit = limit.get(), .key = keyed ? key(1) : Hash128{}, .quota = contended_quota};
        admitted += admit({&charge, 1}, after(++step)).allowed();
    }
    const std::chrono::duration<double, std::nano> passed =
        std::chrono::steady_clock::now() - begun;
    state.counters["ns_each"] = {
        passed.count() / static_cast<double>(step), benchmark::Counter::kAvgThreads};
    state.counters["admitted"] = static_cast<double>(admitted);
}

// New keys without end, each with so many requests in a row: every key takes the place of one whose
// window is over.
void flood(benchmark::State& state) {
    LimitSpec of_flood = spec(Algorithm::fixed_window, true);
    of_flood.identity.per = 10s;
    of_flood.max_keys = 100'000;
    Limit limit{of_flood};
    const auto of_each = static_cast<std::uint64_t>(state.range(0));
    std::uint64_t step = 0;
    for (auto _ : state) {
        const Charge charge{.limit = &limit, .key = key(step / of_each), .quota = 100};
        benchmark::DoNotOptimize(admit({&charge, 1}, after(100'000 * ++step)).allowed());
    }
}

std::size_t resident() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t size = 0;
    std::size_t pages = 0;
    statm >> size >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double mib(std::size_t bytes) {
    return static_cast<double>(bytes) / (1024 * 1024);
}

// `keys` distinct keys, each once, 3.6 ms apart: no more than a million are live at once.
void memory(benchmark::State& state) {
    const auto keys = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        const std::size_t before = resident();
        const auto limit = std::make_unique<Limit>(spec(Algorithm::fixed_window, true));
        for (std::uint64_t i = 0; i < keys; ++i) {
            const Charge charge{.limit = limit.get(), .key = key(i), .quota = plenty};
            (void)admit({&charge, 1}, after(3'600'000 * i));
        }
        const Now end = after(3'600'000 * (keys - 1));
        state.counters["live_keys"] = static_cast<double>(limit->live_keys(end));
        state.counters["overflowed"] = static_cast<double>(limit->tally().overflowed());
        state.counters["MiB"] = mib(resident() - before);
    }
}

} // namespace

BENCHMARK_CAPTURE(one, fixed_window, Algorithm::fixed_window);
BENCHMARK_CAPTURE(one, sliding_window, Algorithm::sliding_window);
BENCHMARK_CAPTURE(one, token_bucket, Algorithm::token_bucket);
BENCHMARK_CAPTURE(one, concurrency, Algorithm::concurrency);
BENCHMARK_CAPTURE(one_keyed, fixed_window, Algorithm::fixed_window);
BENCHMARK(four);
BENCHMARK_CAPTURE(million_keys, fixed_window, Algorithm::fixed_window);
BENCHMARK_CAPTURE(million_keys, token_bucket, Algorithm::token_bucket);
BENCHMARK(flood)->Arg(1)->Arg(2)->Arg(3);
BENCHMARK_CAPTURE(contended, one, false)->Threads(2)->Iterations(contended_each);
BENCHMARK_CAPTURE(contended, one_keyed, true)->Threads(2)->Iterations(contended_each);
BENCHMARK(memory)
    ->Arg(1'000'000)
    ->Arg(100'000'000)
    ->Iterations(1)
    ->Repetitions(1)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
