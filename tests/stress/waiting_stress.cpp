// Many threads in one waiting room: they come, wait, leave, give slots and charges back, and have
// more keys than the table holds, while one thread opens the room and another changes numbers. Time
// is virtual and runs by itself.
#include "limits/counter/tally.hpp"
#include "limits/queue/admission_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 4;
constexpr int requests_each = 5'000;
constexpr Duration per = 10ms;

class Clock {
  public:
    [[nodiscard]] Now now() const noexcept {
        const Duration since{ticks_.load()};
        return {SteadyTime{1'000'000s} + since, WallTime{1'700'000'000s} + since};
    }
    void advance(Duration by) noexcept { ticks_ += by.count(); }
    [[nodiscard]] Duration passed() const noexcept { return Duration{ticks_.load()}; }

  private:
    std::atomic<std::int64_t> ticks_{0};
};

// Who gives something back lets the next one in, as in the gateway.
struct DoorBell final : WakeupScheduler {
    explicit DoorBell(const Clock& its_clock) : clock{its_clock} {}
    void schedule(SteadyTime) noexcept override {} // the opener never sleeps
    void run_now() noexcept override { (void)room.open(clock.now()); }

    const Clock& clock;
    AdmissionQueue room{*this};
};

struct Post final : Mailbox {
    void notify() noexcept override { rung = true; }
    std::atomic<bool> rung = false;
};

struct Limits {
    Limit window{{.identity = {.name = "w", .key = "", .per = per}}};
    Limit keyed{{.identity = {.name = "k", .key = "client_ip", .per = per}, .max_keys = 8}};
    Limit cap{{.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}}};
    std::atomic<std::int64_t> in_flight{0};
    std::atomic<std::int64_t> most_in_flight{0};
    std::atomic<std::uint64_t> through_window{0};
};

constexpr std::uint64_t window_quota = 40;
constexpr std::uint64_t cap_quota = 6;

// What a worker does with its requests.
class Worker {
  public:
    Worker(std::uint64_t seed, Limits& limits, AdmissionQueue& room, const Clock& clock)
        : random_{seed}, limits_{limits}, room_{room}, clock_{clock} {}
    ~Worker() {
        for (auto& waiter : waiting_)
            room_.leave(*waiter, clock_.now());
    }

    void run() {
        for (int i = 0; i < requests_each; ++i) {
            come();
            collect();
            if (below(3) == 0)
                leave_one();
            while (served_.size() > 2)
                serve_one();
        }
        while (!waiting_.empty()) {
            collect();
            while (!served_.empty())
                serve_one();
            if (below(50) == 0)
                leave_one();
            std::this_thread::yield();
        }
        while (!served_.empty())
            serve_one();
    }

  private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    void come() {
        auto waiter = std::make_unique<Waiter>(post_);
        const auto want = [&](Limit& limit, std::uint64_t quota, Hash128 key) {
            waiter->charges.push_back({&limit, key, quota});
            waiter->terms.push_back({true, 30ms, 100, Hash128{below(5), 0}});
        };
        if (below(3) != 0)
            want(limits_.window, window_quota, {});
        if (below(2) == 0)
            want(limits_.keyed, 3, {below(20), 1});
        if (below(2) == 0 || waiter->charges.empty())
            want(limits_.cap, cap_quota, {});
        switch (room_.enter(*waiter, clock_.now())) {
        case AdmissionQueue::Entered::admitted:
            begin(std::move(waiter));
            break;
        case AdmissionQueue::Entered::waiting:
            waiting_.push_back(std::move(waiter));
            break;
        case AdmissionQueue::Entered::refused:
            break;
        }
    }

    void begin(std::unique_ptr<Waiter> waiter) {
        if (waiter->charges.front().limit == &limits_.window)
            ++limits_.through_window;
        if (waiter->charges.back().limit == &limits_.cap) {
            const std::int64_t now = ++limits_.in_flight;
            std::int64_t most = limits_.most_in_flight.load();
            while (now > most && !limits_.most_in_flight.compare_exchange_weak(most, now)) {
            }
        }
        served_.push_back(std::move(waiter));
    }

    void serve_one() {
        const std::unique_ptr<Waiter> waiter = std::move(served_.front());
        served_.pop_front();
        if (waiter->charges.back().limit == &limits_.cap)
            --limits_.in_flight;
        // Of the keyed limit alone: the window's admissions are counted.
        for (std::size_t i = 0; i < waiter->charges.size(); ++i)
            if (waiter->charges[i].limit == &limits_.keyed && below(3) == 0)
                waiter->decision.permit.refund(i, clock_.now());
        if (below(2) == 0)
            waiter->decision.permit.release(clock_.now());
    }

    void collect() {
        if (!post_.rung.exchange(false))
            return;
        Waiters over;
        room_.collect(post_, over);
        while (!over.empty()) {
            Waiter& waiter = over.front();
            over.pop_front();
            std::unique_ptr<Waiter> own = take(waiter);
            if (own->decision.allowed())
                begin(std::move(own));
        }
    }

    std::unique_ptr<Waiter> take(Waiter& waiter) {
        for (auto& each : waiting_)
            if (each.get() == &waiter) {
                std::unique_ptr<Waiter> taken = std::move(each);
                each = std::move(waiting_.back());
                waiting_.pop_back();
                return taken;
            }
        FAIL("told of a request that has left");
        return nullptr;
    }

    void leave_one() {
        if (waiting_.empty())
            return;
        const std::unique_ptr<Waiter> gone = take(*waiting_[below(waiting_.size())]);
        room_.leave(*gone, clock_.now());
    }

    std::mt19937_64 random_;
    Limits& limits_;
    AdmissionQueue& room_;
    const Clock& clock_;
    Post post_;
    std::vector<std::unique_ptr<Waiter>> waiting_;
    std::deque<std::unique_ptr<Waiter>> served_;
};

} // namespace

TEST_CASE("nothing is lost, granted twice or left behind while all wait, leave and release") {
    Limits limits;
    Clock clock;
    DoorBell scheduler{clock};
    AdmissionQueue& room = scheduler.room;
    {
        std::atomic<bool> over = false;
        std::jthread opener{[&] {
            while (!over) {
                clock.advance(50us);
                (void)room.open(clock.now());
            }
        }};
        std::jthread changer{[&] {
            for (std::uint64_t quota = 3; !over; quota = quota == 3 ? 4 : 3) {
                room.update_quota(limits.keyed, [quota](const auto&) { return Numbers{quota}; });
                std::this_thread::yield();
            }
        }};
        {
            std::vector<std::jthread> running;
            for (int i = 0; i < workers; ++i)
                running.emplace_back([&, i] {
                    Worker{static_cast<std::uint64_t>(i) + 1, limits, room, clock}.run();
                });
        }
        over = true;
    }

    CHECK(limits.most_in_flight <= static_cast<std::int64_t>(cap_quota));
    CHECK(limits.in_flight == 0);
    CHECK(limits.cap.in_flight() == 0);
    CHECK(limits.keyed.tally().overflowed() > 0);
    const auto windows = static_cast<std::uint64_t>(clock.passed() / per) + 2;
    CHECK(limits.through_window <= windows * window_quota);
    for (const Limit* limit : {&limits.window, &limits.keyed, &limits.cap}) {
        CHECK(limit->waiting() == 0);
        CHECK_FALSE(limit->awaited());
    }
}
