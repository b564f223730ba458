// Requests before own and shared limits, and a store that answers in any way, at any time, or
// never: nothing is charged twice, nothing is left over, all or none.
#include "fake_shared_counters.hpp"
#include "fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace stint;
using namespace stint::admission;
using namespace stint::admission::test;
using Script = stint::test::FakeSharedCounters::Script;

namespace {

constexpr std::size_t own_window = 0;
constexpr std::size_t own_cap = 1;
constexpr std::size_t shared_window = 2;
constexpr std::size_t shared_cap = 3;

class History {
  public:
    explicit History(std::uint64_t seed) : random_{seed}, gateway_{route()} {
        gateway_.shared = &store_.charges;
    }

    void step() {
        now_ += std::chrono::milliseconds{below(4)};
        switch (below(8)) {
        case 0:
        case 1:
            ask();
            break;
        case 2:
            store_.deliver(at(now_));
            break;
        case 3:
            (void)store_.charges.expire(at(now_));
            break;
        case 4:
            leave_or_end();
            break;
        case 5:
            open_queue();
            break;
        default:
            resume();
            break;
        }
        check();
    }

    void end() {
        while (!requests_.empty())
            end_one(0);
        store_.deliver(at(now_ + 10s));
        check();
        REQUIRE(store_.unanswered() == 0);
        REQUIRE(store_.charges.waiting() == 0);
        // The own counters of shared limits have counted what was admitted without the store.
        REQUIRE(
            store_.used(gateway_.limit(shared_window)) + gateway_.used(shared_window, now_) ==
            kept_ - uncounted_);
        REQUIRE(store_.used(gateway_.limit(shared_cap)) == 0);
        REQUIRE(gateway_.limit(shared_cap).in_flight() == 0);
        REQUIRE(gateway_.limit(own_cap).in_flight() == 0);
        REQUIRE(gateway_.used(own_window, now_) == kept_);
        REQUIRE(gateway_.limit(own_window).waiting() == 0);
    }

  private:
    enum class State : std::uint8_t { queued, asking, admitted };
    struct Request {
        std::unique_ptr<Asked> asked;
        State state;
    };

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    LimitedRoute route() {
        const auto shared = [&](routing::LimitTerms limit, limits::OnStoreFailure on_failure) {
            limit.shared = limits::SharedTerms{
                .on_failure = on_failure, .reserve = {below(4), 0}, .timeout = 5ms};
            return limit;
        };
        open_ = below(4) == 0;
        const auto policy =
            open_ ? limits::OnStoreFailure::open : static_cast<limits::OnStoreFailure>(below(4));
        open_ = policy == limits::OnStoreFailure::open;
        LimitedRoute made;
        made.terms = {
            window("own", 1 + below(200), 1h), cap("own slots", 1 + below(20)),
            shared(window("all", 1 + below(200), 1h), policy),
            shared(cap("all slots", 1 + below(20)), policy)};
        if (below(2) == 0) { // its own slots may be waited for
            made.terms[own_cap].wait.emplace();
            made.terms[own_cap].wait->max_wait = 50ms;
            made.terms[own_cap].wait->max_waiting = 10;
        }
        return made;
    }

    void ask() {
        using Way = Script::Way;
        static constexpr Way ways[] = {Way::at_once, Way::late, Way::lost_before, Way::lost_after};
        store_.script = {ways[below(4)], std::chrono::milliseconds{below(12)}, below(5) == 0};
        Request made{
            std::make_unique<Asked>(gateway_, below(3) == 0 ? Door::check : Door::proxy, at(now_)),
            State::asking};
        take(made, made.asked->next);
    }

    void take(Request& request, Next next) {
        switch (next) {
        case Next::forward:
            request.state = State::admitted;
            break;
        case Next::wait_shared:
            request.state = State::asking;
            break;
        case Next::wait_queue:
            request.state = State::queued;
            break;
        default:
            return; // it ends
        }
        requests_.push_back(std::move(request));
    }

    void resume() {
        const auto found = std::ranges::find_if(requests_, [](const Request& each) {
            return each.state == State::asking && each.asked->callbacks.answers > 0;
        });
        if (found == requests_.end())
            return;
        Request request = std::move(*found);
        requests_.erase(found);
        request.asked->callbacks.answers = 0;
        (void)request.asked->admission.resume(at(now_));
        take(request, request.asked->admission.finish_shared());
    }

    void open_queue() {
        (void)gateway_.waiting.queue.open(at(now_));
        limits::Waiters decided;
        gateway_.waiting.queue.collect(gateway_.waiting, decided);
        std::vector<limits::Waiter*> all;
        decided.clear_and_dispose([&](limits::Waiter* each) { all.push_back(each); });
        for (const limits::Waiter* const each : all) {
            const auto found = std::ranges::find_if(requests_, [&](const Request& of) {
                return of.asked->callbacks.queued.get() == each;
            });
            REQUIRE(found != requests_.end());
            Request request = std::move(*found);
            requests_.erase(found);
            auto& asked = *request.asked;
            const Duration waited = asked.admission.resume(at(now_));
            const Next next = asked.admission.finish_queue(*asked.callbacks.queued, waited);
            asked.callbacks.queued.reset();
            take(request, next);
        }
    }

    void leave_or_end() {
        if (!requests_.empty())
            end_one(below(requests_.size()));
    }

    void end_one(std::size_t which) {
        Request request = std::move(requests_[which]);
        requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(which));
        if (request.state == State::asking) {
            if (below(2) == 0)
                request.asked->admission.undo(at(now_));
        } else if (request.state == State::admitted) {
            if (below(4) == 0) {
                request.asked->admission.undo(at(now_));
                return;
            }
            ++kept_;
            if (open_) { // it may not be counted: then it is to be the same for all
                const bool check = request.asked->admission.left_out() != 0; // has no caps
                request.asked->admission.permit().settle(check ? 1 : 2, 0, at(now_));
                ++uncounted_;
            }
        }
    }

    void check() {
        REQUIRE(store_.wrong() == 0);
        const auto in = [&](State state) {
            return static_cast<std::uint64_t>(
                std::ranges::count(requests_, state, &Request::state));
        };
        const std::uint64_t present = in(State::asking) + in(State::admitted);
        REQUIRE(gateway_.used(own_window, now_) - kept_ >= present);
        REQUIRE(gateway_.used(own_window, now_) - kept_ <= present + in(State::queued));
    }

    std::mt19937_64 random_;
    bool open_ = false;
    Duration now_{};
    stint::test::FakeSharedCounters store_;
    Gateway gateway_;
    std::vector<Request> requests_;
    std::uint64_t kept_ = 0;      // admitted for good
    std::uint64_t uncounted_ = 0; // of them, where a store that fails counts nothing
};

} // namespace

TEST_CASE("own and shared charges are made together or not at all, whatever becomes of the store") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        History history{seed};
        for (int step = 0; step < 400; ++step)
            history.step();
        history.end();
    }
}
