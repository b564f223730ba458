// Gateways in one process, each with a store's client and limits of its own, on a real
// redis-server.
#pragma once

#include "limits/limit.hpp"
#include "limits/shared/share_requests.hpp"
#include "net/clock.hpp"
#include "redis_process.hpp"
#include "stores/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stint::stores::test {

using namespace std::chrono_literals;
using stint::test::RedisProcess;

inline bool no_server() {
    if (RedisProcess::installed())
        return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

// Asks the server by redis-cli; returns what that prints.
inline std::string ask(const RedisProcess& server, const std::string& words) {
    const std::string line =
        "redis-cli --no-auth-warning -p " + std::to_string(server.port()) + " " + words;
    std::FILE* const pipe = ::popen(line.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    char block[4096];
    while (const std::size_t size = std::fread(block, 1, sizeof block, pipe))
        text.append(block, size);
    ::pclose(pipe);
    return text;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Waits until the condition holds; fails after a time that is far beyond what it takes.
inline void await(const std::function<bool()>& condition, const char* what) {
    const SteadyTime end = net::read_steady_clock() + 20s;
    Duration pause = 1us;
    while (!condition()) {
        if (net::read_steady_clock() > end)
            FAIL(std::string{what});
        std::this_thread::sleep_for(pause);
        pause = std::min<Duration>(2 * pause, 2ms);
    }
}

inline StoreSettings settings(const RedisProcess& server, const std::string& gateway) {
    StoreSettings made;
    made.name = "main";
    made.port = server.port();
    made.gateway = gateway;
    made.time_to_live = 1s;
    made.prefix = "test";
    return made;
}

// What is shared, under one name in all gateways.
struct Terms {
    std::string name = "api";
    std::string key = {}; // "" = one counter
    limits::Algorithm algorithm = limits::Algorithm::sliding_window;
    limits::Anchor anchor = limits::Anchor::first_request;
    std::uint64_t number = 100;
    std::uint64_t burst = 0;
    Duration per = 200ms;
};

inline limits::LimitPtr make_limit(const Terms& terms) {
    limits::LimitSpec spec;
    spec.identity = {
        .name = terms.name,
        .key = terms.key,
        .algorithm = terms.algorithm,
        .anchor = terms.anchor,
        .per = terms.algorithm == limits::Algorithm::concurrency ? Duration{} : terms.per};
    spec.quota = terms.number;
    return std::make_shared<limits::Limit>(spec);
}

// A worker's requests for shares, whose answers the test delivers.
struct Requests final : limits::ShareRequests {
    void notify() noexcept override { notified.fetch_add(1); }
    std::atomic<int> notified{0};
};

struct Ask final : limits::ShareRequests::Request {
    void answered(limits::ShareAnswer given) noexcept override {
        answer = given;
        ++answers;
    }
    limits::ShareAnswer answer{};
    int answers = 0;
};

// One limit of a gateway, with one client of its own.
class Client {
  public:
    Client(Store& store, const Terms& terms, const std::string& key_text = {})
        : store_{&store}, terms_{terms}, limit_{make_limit(terms)}, key_text_{key_text} {
        if (!terms.key.empty())
            key_ = hasher_(key_text);
    }
    [[nodiscard]] const limits::LimitPtr& limit() const noexcept { return limit_; }
    [[nodiscard]] limits::Charge charge() const {
        limits::Charge made;
        made.limit = limit_.get();
        made.key = key_;
        made.quota = terms_.number;
        made.burst = terms_.burst;
        return made;
    }
    // From now on it asks this store, which serves its limit.
    void use(Store& store) noexcept { store_ = &store; }
    // Makes a request; asks the store if it is refused for want of a share. Thread: one.
    limits::Decision request(const Now& now) {
        requests_.deliver();
        const limits::Charge charged = charge();
        limits::Decision decision = limits::admit({&charged, 1}, now);
        if (decision.ask_store != 0 && !ask_.waits())
            want();
        return decision;
    }
    [[nodiscard]] bool admitted() { return request(net::read_clocks()).allowed(); }
    void want() {
        ask_.begin(requests_, 1);
        ask_.ask(
            *store_, {.limit = limit_,
                      .key = key_,
                      .key_text = key_text_,
                      .numbers = {terms_.number, terms_.burst}});
    }
    [[nodiscard]] std::uint64_t share() const {
        const auto share = limit_->share(key_, net::read_clocks()).numbers;
        return share ? share->quota : terms_.number;
    }
    Ask& ask() {
        requests_.deliver();
        return ask_;
    }

  private:
    Store* store_;
    const Terms terms_;
    const limits::LimitPtr limit_;
    const std::string key_text_;
    const KeyHasher hasher_;
    Hash128 key_{};
    Requests requests_; // outlives the store's thread: stop() before
    Ask ask_;
};

// A gateway with one limit, in whose name the test makes requests by hand.
struct Gateway {
    explicit Gateway(
        const StoreSettings& with,
        const Terms& terms = {},
        limits::OnStoreFailure on_failure = limits::OnStoreFailure::share,
        const std::string& key_text = {})
        : store{with}, client{store, terms, key_text} {
        store.serve(client.limit(), on_failure);
        store.start();
    }
    ~Gateway() {
        store.stop();
        CHECK(store.counters().wants == store.counters().told + store.counters().failed);
    }
    void await_admission() {
        await([&] { return client.admitted(); }, "no request was admitted");
    }
    void await_session(shared::SessionState state) {
        await([&] { return store.state().session == state; }, "the session is in another state");
    }

    Store store;
    Client client;
};

} // namespace stint::stores::test
