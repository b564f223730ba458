#include "naive_line.hpp"
#include "reference.hpp"
#include "waiting_fixture.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>

using namespace stint;
using namespace stint::limits;
using namespace stint::limits::test;

namespace {

// Requests before a few limits that let them wait, clients that leave, slots that are given back,
// and a clock whose openings are noticed late at times.
class History {
  public:
    explicit History(std::uint64_t seed) : random_{seed} {
        const std::size_t count = 1 + below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const Duration per = Duration{1ms} * static_cast<std::int64_t>(20 + below(100));
            LimitSpec spec = below(3) == 0 ? cap() : window(per);
            if (below(2) == 0)
                spec.identity.key = "client_ip";
            sides_.push_back(
                {std::make_unique<Limit>(spec),
                 Reference{spec},
                 1 + below(4),
                 1 + below(12),
                 Duration{1ms} * static_cast<std::int64_t>(10 + below(400)),
                 {}});
        }
    }
    ~History() {
        for (Request& request : requests_)
            room_.leave(*request.waiter, now_);
    }

    void step() {
        const Duration by{static_cast<std::int64_t>(below(12'000'000))};
        now_.steady += by;
        now_.wall += by;
        switch (below(8)) {
        case 0:
            leave();
            break;
        case 1:
            release();
            break;
        case 2:
        case 3:
            open();
            break;
        default:
            enter();
            break;
        }
        for (const Side& side : sides_) {
            std::size_t waiting = 0;
            for (const auto& [of, line] : side.lines)
                waiting += line.size();
            REQUIRE(side.limit->waiting() == waiting);
        }
    }

  private:
    struct Side {
        std::unique_ptr<Limit> limit;
        Reference counts;
        std::uint64_t quota;
        std::uint64_t max_waiting;
        Duration max_wait;
        std::map<std::uint64_t, NaiveLine> lines; // by key, if anybody waits
    };
    struct Request {
        int name;
        std::size_t side;
        std::uint64_t of;
        std::unique_ptr<Waiter> waiter;
        SteadyTime admitted_at{};
    };
    struct Told {
        std::vector<int> admitted; // in order
        std::vector<std::pair<int, Duration>> refused;
        friend bool operator==(const Told&, const Told&) = default;
    };
    using ByLine = std::map<std::pair<std::size_t, std::uint64_t>, Told>;

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    void enter() {
        const std::size_t at = below(sides_.size());
        Side& side = sides_[at];
        const std::uint64_t of = side.limit->keyed() ? below(3) : 0;
        const int flow = static_cast<int>(below(4));
        Request& request =
            requests_.emplace_back(++names_, at, of, std::make_unique<Waiter>(post_));
        request.waiter->charges.push_back({side.limit.get(), key(of), side.quota});
        request.waiter->terms.push_back(
            {true, side.max_wait, side.max_waiting, key(static_cast<std::uint64_t>(flow))});
        const int name = request.name;

        const auto entered = room_.enter(*request.waiter, now_);

        ByLine wanted;
        const auto expected = expect_enter(side, {at, of}, name, flow, wanted);
        REQUIRE(static_cast<int>(entered) == static_cast<int>(expected));
        ByLine told = collect();
        if (entered == WaitingRoom::Entered::refused)
            note(told, find(name));
        if (entered == WaitingRoom::Entered::admitted)
            find(name).admitted_at = now_.steady;
        compare(told, wanted);
    }

    WaitingRoom::Entered expect_enter(
        Side& side, std::pair<std::size_t, std::uint64_t> id, int name, int flow, ByLine& wanted) {
        auto line = side.lines.find(id.second);
        if (line == side.lines.end()) {
            const Reference::Answer answer = side.counts.ask(id.second, side.quota, now_);
            if (answer.refusal == Refusal::none) {
                side.counts.charge(id.second, now_);
                return WaitingRoom::Entered::admitted;
            }
            line = side.lines
                       .emplace(
                           id.second,
                           NaiveLine{side.limit->identity().per, side.quota, side.max_waiting})
                       .first;
            close(side, line->second, answer.wait);
        }
        const auto refused = line->second.join({name, now_.steady + side.max_wait}, flow, now_);
        for (const auto& one : refused)
            wanted[id].refused.emplace_back(one.name, line->second.wait_behind_all(now_));
        const bool itself = std::ranges::any_of(
            refused, [&](const NaiveLine::One& one) { return one.name == name; });
        drop_if_empty(side, id.second);
        return itself ? WaitingRoom::Entered::refused : WaitingRoom::Entered::waiting;
    }

    void close(const Side& side, NaiveLine& line, Duration wait) {
        line.wait = wait;
        line.opens_at = side.counts.is_cap() ? SteadyTime::max() : now_.steady + wait;
    }

    void drop_if_empty(Side& side, std::uint64_t of) {
        if (side.lines.at(of).size() == 0)
            side.lines.erase(of);
    }

    void open() {
        (void)room_.open(now_);

        ByLine wanted;
        for (std::size_t at = 0; at < sides_.size(); ++at)
            for (std::uint64_t of = 0; of < 3; ++of)
                if (sides_[at].lines.contains(of))
                    expect_open(sides_[at], {at, of}, wanted);
        const ByLine told = collect();
        compare(told, wanted);
    }

    void expect_open(Side& side, std::pair<std::size_t, std::uint64_t> id, ByLine& wanted) {
        NaiveLine& line = side.lines.at(id.second);
        while (line.opens_at <= now_.steady && line.size() > 0) {
            const Reference::Answer answer = side.counts.ask(id.second, side.quota, now_);
            if (answer.refusal != Refusal::none) {
                close(side, line, answer.wait);
                break;
            }
            side.counts.charge(id.second, now_);
            wanted[id].admitted.push_back(line.pop().name);
        }
        for (const auto& one : line.expire(now_))
            wanted[id].refused.emplace_back(one.name, line.wait_behind_all(now_));
        drop_if_empty(side, id.second);
    }

    void leave() {
        if (requests_.empty())
            return;
        Request& request = requests_[below(requests_.size())];
        if (request.admitted_at != SteadyTime{})
            return;
        room_.leave(*request.waiter, now_);
        Side& side = sides_[request.side];
        if (const auto line = side.lines.find(request.of); line != side.lines.end()) {
            line->second.erase(request.name);
            drop_if_empty(side, request.of);
        }
        forget(request.name);
    }

    void release() {
        for (Request& request : requests_) {
            if (request.admitted_at == SteadyTime{})
                continue;
            Side& side = sides_[request.side];
            if (side.counts.is_cap()) {
                request.waiter->decision.permit.release(now_);
                side.counts.release(request.of, now_.steady - request.admitted_at);
                if (const auto line = side.lines.find(request.of); line != side.lines.end())
                    line->second.opens_at = SteadyTime::min();
            }
            return forget(request.name);
        }
    }

    ByLine collect() {
        Waiters over;
        room_.collect(post_, over);
        ByLine told;
        while (!over.empty()) {
            Waiter& waiter = over.front();
            over.pop_front();
            for (Request& request : requests_)
                if (request.waiter.get() == &waiter)
                    note(told, request);
        }
        return told;
    }

    void note(ByLine& told, Request& request) {
        const Decision& decision = request.waiter->decision;
        Told& line = told[{request.side, request.of}];
        if (decision.allowed()) {
            request.admitted_at = now_.steady;
            line.admitted.push_back(request.name);
        } else {
            line.refused.emplace_back(request.name, decision.retry_after);
        }
    }

    void compare(ByLine told, ByLine wanted) {
        for (ByLine* const each : {&told, &wanted})
            for (auto& [id, line] : *each)
                std::ranges::sort(line.refused);
        std::vector<int> over;
        for (const auto& [id, line] : told)
            for (const auto& [name, wait] : line.refused)
                over.push_back(name);
        REQUIRE(told == wanted);
        for (const int name : over)
            forget(name);
    }

    Request& find(int name) { return *std::ranges::find(requests_, name, &Request::name); }
    void forget(int name) { requests_.erase(std::ranges::find(requests_, name, &Request::name)); }

    std::mt19937_64 random_;
    Now now_ = start;
    Alarm alarm_;
    Post post_;
    std::vector<Side> sides_; // outlives the permits in requests_
    WaitingRoom room_{alarm_};
    std::vector<Request> requests_;
    int names_ = 0;
};

} // namespace

TEST_CASE("who waits, goes and is refused is what a naive line says in any history") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        History history{seed};
        for (int step = 0; step < 800; ++step)
            history.step();
    }
}
