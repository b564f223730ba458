// Locks from several threads at once: holders who come, stay, leave and are cut off, while leases
// expire, locks are forgotten and made anew, a writer takes the records, and somebody looks.
#include "limits/queue/admission_queue.hpp"
#include "locks/lock_manager.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace {

using namespace stint;
using namespace stint::locks;
using namespace std::chrono_literals;

constexpr int threads = 4;
constexpr int rounds = 4'000; // of each
constexpr std::size_t names = 4;

struct NoBell final : limits::WakeupScheduler {
    void schedule(SteadyTime) noexcept override {}
    void run_now() noexcept override {}
};

struct Listening final : LockManager::Listener {
    void on_written() noexcept override { heard.fetch_add(1); }
    std::atomic<int> heard{0};
};

struct Shared {
    NoBell scheduler;
    limits::Registry registry;
    LockManager book{registry, scheduler, WallTime{1'700'000'000s}};
    std::array<std::atomic<int>, names> inside{};
    std::atomic<Duration::rep> clock{0};
    std::atomic<int> entered{0};
    std::atomic<bool> over{false};

    Now now() {
        const Duration passed{clock.fetch_add(1000)};
        return {SteadyTime{1000s} + passed, WallTime{1'700'000'000s} + passed};
    }
};

void come_and_go(Shared& all, std::uint64_t connection_id) {
    std::mt19937 random{static_cast<std::mt19937::result_type>(connection_id)};
    for (int i = 0; i < rounds; ++i) {
        const std::size_t which = random() % names;
        const std::string name(1, static_cast<char>('a' + which));
        auto found = all.book.obtain(name, 1, all.now());
        auto* const lock = std::get_if<LockPtr>(&found);
        if (lock == nullptr)
            continue;
        const limits::Charge slot = (*lock)->charge();
        limits::Decision decision = limits::try_admit({&slot, 1}, all.now());
        if (!decision.allowed())
            continue;
        LeaseRequest wish;
        wish.ttl = 1h;
        wish.connection_id = connection_id;
        const Grant grant =
            all.book.grant(*lock, wish, std::move(decision.permit), all.now()).value();
        found = LockManager::LockError{}; // the lease alone keeps the lock
        CHECK(all.inside[which].fetch_add(1) == 0);
        ++all.entered;
        if (random() % 2 == 0)
            CHECK(all.book.renew(name, grant.id, {}, all.now()).has_value());
        all.inside[which].fetch_sub(1);
        switch (random() % 3) {
        case 0:
            all.book.end_for_connection(std::vector{grant.id}, connection_id, all.now());
            break;
        case 1:
            CHECK(all.book.end(name, grant.id, EndReason::forced, all.now()));
            break;
        default:
            CHECK(
                all.book.release(name, grant.id, std::nullopt, all.now()).what ==
                LockManager::Release::free);
        }
    }
}

// As the thread that writes the state file.
void write(Shared& all) {
    while (!all.over.load()) {
        all.book.written(all.book.take_records());
        std::this_thread::yield();
    }
}

void look(Shared& all) {
    while (!all.over.load()) {
        static_cast<void>(all.book.expire(all.now()));
        static_cast<void>(all.book.list("", all.now()));
        static_cast<void>(all.book.collect_metrics());
        all.book.configure({}, 2 + all.entered.load() % 2, 10, all.now());
        std::this_thread::yield();
    }
}

} // namespace

TEST_CASE("of several threads one is inside at a time, and locks outlive their holders") {
    Shared all;
    Listening listening;
    all.book.configure({}, 2, 10, all.now());
    all.book.add(listening);
    std::vector<std::thread> others;
    others.emplace_back([&] { look(all); });
    SUBCASE("in memory") {}
    SUBCASE("with a writer") {
        all.book.record([] {});
        others.emplace_back([&] { write(all); });
    }
    std::vector<std::thread> holders;
    for (int i = 1; i <= threads; ++i)
        holders.emplace_back([&all, i] { come_and_go(all, static_cast<std::uint64_t>(i)); });
    for (std::thread& each : holders)
        each.join();
    all.over.store(true);
    for (std::thread& each : others)
        each.join();
    all.book.remove(listening);

    CHECK(all.entered.load() > 0);
    for (const auto& lock : all.book.list("", all.now()).locks)
        CHECK(lock.held == 0);
}
