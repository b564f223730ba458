// Requests that wait for the answers of stores of shares.
#include "limits/shared/share_requests.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::limits;

namespace {

struct Worker final : ShareRequests {
    void notify() noexcept override { notified.fetch_add(1); }
    std::atomic<int> notified{0};
};

struct Source final : ShareSource {
    void want(const ShareWanted&, std::uint64_t number, ShareRequests& to) noexcept override {
        asked.emplace_back(number, &to);
    }
    void answer(std::size_t i, ShareAnswer answer) {
        asked[i].second->answer(asked[i].first, answer);
    }
    std::vector<std::pair<std::uint64_t, ShareRequests*>> asked;
};

struct Waiting final : ShareRequests::Request {
    void answered(ShareAnswer answer) noexcept override {
        got = answer;
        times += 1;
        if (destroy != nullptr)
            destroy->reset();
    }
    std::optional<ShareAnswer> got;
    int times = 0;
    std::optional<Waiting>* destroy = nullptr;
};

} // namespace

TEST_CASE("a request is told once, after all its answers, on the worker's thread") {
    Worker worker;
    Source source;
    Waiting request;
    request.begin(worker, 2);
    request.ask(source, {});
    request.ask(source, {});
    CHECK(request.waits());

    source.answer(0, ShareAnswer::told);
    CHECK(worker.notified == 1);
    worker.deliver();
    CHECK(request.times == 0);
    source.answer(1, ShareAnswer::told);
    CHECK(request.times == 0); // until deliver()
    worker.deliver();

    CHECK(request.times == 1);
    CHECK(request.got == ShareAnswer::told);
    CHECK_FALSE(request.waits());
    CHECK(worker.waiting() == 0);
}

TEST_CASE("one failure ends the wait, and later answers go nowhere") {
    Worker worker;
    Source source;
    Waiting request;
    request.begin(worker, 2);
    request.ask(source, {});
    request.ask(source, {});
    source.answer(0, ShareAnswer::failed);
    worker.deliver();
    CHECK(request.got == ShareAnswer::failed);

    request.begin(worker, 1);
    request.ask(source, {});
    source.answer(1, ShareAnswer::told);
    worker.deliver();
    CHECK(request.times == 1); // that was for the former wait
    source.answer(2, ShareAnswer::told);
    worker.deliver();
    CHECK(request.times == 2);
}

TEST_CASE("a request that is destroyed, also by its own answer, leaves nothing behind") {
    Worker worker;
    Source source;
    std::optional<Waiting> first{std::in_place};
    std::optional<Waiting> second{std::in_place};
    first->begin(worker, 1);
    first->ask(source, {});
    second->begin(worker, 1);
    second->ask(source, {});
    second->destroy = &second;
    first.reset();
    source.answer(0, ShareAnswer::told);
    source.answer(1, ShareAnswer::told);
    worker.deliver();
    CHECK_FALSE(second.has_value());
    CHECK(worker.waiting() == 0);
    worker.ask(source, {}); // for no request
    source.answer(2, ShareAnswer::told);
    worker.deliver();
}

TEST_CASE("answers from other threads reach their requests, with a notification for each batch") {
    constexpr std::size_t count = 1000;
    Worker worker;
    Source source;
    std::vector<std::unique_ptr<Waiting>> requests;
    for (std::size_t i = 0; i < count; ++i) {
        requests.push_back(std::make_unique<Waiting>());
        requests.back()->begin(worker, 1);
        requests.back()->ask(source, {});
    }
    std::thread store{[&] {
        for (std::size_t i = 0; i < count; ++i)
            source.answer(i, ShareAnswer::told);
    }};
    int seen = 0;
    while (worker.waiting() > 0)
        if (worker.notified > seen) {
            ++seen;
            worker.deliver();
        } else {
            std::this_thread::yield();
        }
    store.join();
    for (const auto& each : requests)
        CHECK(each->times == 1);
}
