// Many threads before limits that reserve. As limits_stress.cpp: time is virtual.
#include "limits/reservation/reservations.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;
using namespace std::chrono_literals;

namespace {

constexpr int threads = 8;
constexpr std::uint64_t quota = 60;
const Now start{SteadyTime{1'000'000s}, WallTime{1'700'000'000s}};

LimitSpec spec(const char* name) {
    return {.identity = {.name = name, .key = "", .per = 4s}, .quota = quota};
}

// One thread's clients: each that was refused comes back when told, half of them with the ticket.
class Clients {
  public:
    Clients(Limit& first, Limit& second, int thread)
        : first_{first}, second_{second}, thread_{static_cast<std::uint64_t>(thread)},
          random_{thread_} {}

    // Everything that happens until `now`, seen at `now`.
    void run(const Now& now) {
        std::vector<Holder> later;
        for (const Holder& each : std::exchange(holders_, {}))
            if (each.comes <= now.steady)
                lost += !ask(each.client, each.tickets, now);
            else
                later.push_back(each);
        holders_.insert(holders_.end(), later.begin(), later.end());
        for (int i = 0; i < 4; ++i)
            (void)ask({thread_, ++clients_}, {}, now);
    }

    std::uint64_t admitted = 0;
    std::uint64_t lost = 0; // came back in vain

  private:
    struct Holder {
        SteadyTime comes;
        Hash128 client;
        std::array<std::uint64_t, 2> tickets;
    };

    bool ask(Hash128 client, const std::array<std::uint64_t, 2>& tickets, const Now& now) {
        std::array charges{
            Charge{.limit = &first_, .quota = quota}, Charge{.limit = &second_, .quota = quota}};
        std::array asked{Reservation{0, client, tickets[0]}, Reservation{1, client, tickets[1]}};
        const Decision decision = admit_reserving(charges, asked, now);
        admitted += decision.allowed();
        if (!decision.allowed())
            holders_.push_back(
                {now.steady + decision.retry_after, client,
                 random_() % 2 == 0 ? std::array<std::uint64_t, 2>{}
                                    : std::array{asked[0].slot, asked[1].slot}});
        return decision.allowed();
    }

    Limit& first_;
    Limit& second_;
    std::uint64_t thread_;
    std::mt19937_64 random_;
    std::vector<Holder> holders_;
    std::uint64_t clients_ = 0;
};

} // namespace

TEST_CASE("many threads admit, reserve and claim: no window too many, no holder in vain") {
    Limit first{spec("first")};
    Limit second{spec("second")};
    constexpr int steps = 400; // of 100 ms: ten windows
    std::atomic<bool> exact{true};
    const auto instant = [](int step) {
        return Now{start.steady + step * 100ms, start.wall + step * 100ms};
    };
    std::vector<Clients> clients;
    for (int thread = 0; thread < threads; ++thread)
        clients.emplace_back(first, second, thread);
    int step = 0;
    std::barrier barrier{threads, [&]() noexcept {
                             const Charge charge{.limit = &first, .quota = quota};
                             exact = exact && first.state_of(charge, instant(step)).used <= quota;
                             ++step;
                         }};
    {
        std::vector<std::jthread> running;
        for (int thread = 0; thread < threads; ++thread)
            running.emplace_back([&, thread] {
                for (int own = 0; own < steps; ++own) {
                    clients[static_cast<std::size_t>(thread)].run(instant(own));
                    (void)first.reservations().out(instant(own).steady);
                    barrier.arrive_and_wait();
                }
            });
    }

    std::uint64_t admitted = 0;
    std::uint64_t lost = 0;
    for (const Clients& each : clients) {
        admitted += each.admitted;
        lost += each.lost;
    }
    CHECK(exact);
    CHECK(lost == 0);
    CHECK(admitted <= 11 * quota);
    CHECK(admitted >= 6 * quota);
    CHECK(first.reservations().claimed() > 3 * quota);
}
