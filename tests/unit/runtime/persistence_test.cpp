// What the system tests cannot see: what is in the file, and when.
#include "made_certificates.hpp"
#include "net/clock.hpp"
#include "runtime/persistence.hpp"
#include "silent_room.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace std::chrono_literals;
using limits::LimitPtr;
using limits::LimitSpec;
using limits::Registry;
using runtime::Persistence;

LimitSpec spec(std::string name, Duration per = 1h, std::string key = {}) {
    return {.identity = {.name = std::move(name), .key = std::move(key), .per = per}, .quota = 1};
}

bool charge(const LimitPtr& limit, std::uint64_t quota, Hash128 key = {}) {
    const limits::Charge charge{.limit = limit.get(), .key = key, .quota = quota};
    return limits::admit({&charge, 1}, net::read_clocks()).allowed();
}

std::uint64_t used(const LimitPtr& limit) {
    return limit->state_of({.quota = 100}, net::read_clocks()).used;
}

// A run of a gateway, as far as its counts go.
struct Run {
    explicit Run(const std::string& file, bool closed = false)
        : persistence{std::make_unique<Persistence>(config::State{file, closed}, registry, locks)} {
    }

    Registry registry;
    test::SilentRoom room;
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};
    std::unique_ptr<Persistence> persistence;
};

class File {
  public:
    [[nodiscard]] std::string path() const { return folder_.path("state.db"); }
    [[nodiscard]] std::size_t rows(const char* table = "counters") const {
        auto store = state::Store::open(path());
        REQUIRE(store.has_value());
        return store->rows(table)->size();
    }

    // As a kill at this instant would leave it.
    [[nodiscard]] std::string killed() const {
        const std::string copy = folder_.path("killed.db");
        for (const char* const part : {"-wal", ""}) { // what is in the log already may be in both
            std::filesystem::remove(copy + part);
            if (std::filesystem::exists(path() + part))
                std::filesystem::copy_file(path() + part, copy + part);
        }
        return copy;
    }

  private:
    tls::Folder folder_;
};

} // namespace

TEST_CASE("counts and the keys' hashes go on from run to run") {
    const File file;
    Hash128 key;
    {
        Run run{file.path()};
        key = run.registry.hasher()("client");
        const LimitPtr limit = run.registry.obtain(spec("a", 1h, "client_ip"));
        CHECK(charge(limit, 1, key));
        run.persistence->finish();
    }
    Run run{file.path()};

    CHECK(run.registry.hasher()("client") == key);
    CHECK_FALSE(charge(run.registry.obtain(spec("a", 1h, "client_ip")), 1, key));
    CHECK(charge(run.registry.obtain(spec("b", 1h, "client_ip")), 1, key));
}

TEST_CASE("limits that nobody asks for wait for it, over several runs") {
    const File file;
    {
        Run run{file.path()};
        const LimitPtr limit = run.registry.obtain(spec("a"));
        CHECK(charge(limit, 100));
        run.persistence->finish();
    }
    { Run run{file.path()}; }
    { Run run{file.path()}; }
    Run run{file.path()};

    CHECK(used(run.registry.obtain(spec("a"))) == 1);
}

TEST_CASE("a limit that ends takes its rows along, and one whose window is over") {
    const File file;
    {
        Run run{file.path()};
        run.registry.keep({run.registry.obtain(spec("stays")), run.registry.obtain(spec("b"))});
        for (const char* const name : {"stays", "b", "c"})
            CHECK(charge(run.registry.obtain(spec(name)), 100));
        const LimitPtr brief = run.registry.obtain(spec("brief", 1ms));
        CHECK(charge(brief, 100));
        while (used(brief) > 0) {
        }
        run.persistence->finish();
    }
    CHECK(file.rows() == 2);
    {
        Run run{file.path()};
        const LimitPtr stays = run.registry.obtain(spec("stays"));
        {
            const LimitPtr ends = run.registry.obtain(spec("b"));
            CHECK(used(ends) == 1);
        }
        run.persistence->finish();
    }
    CHECK(file.rows() == 1);
}

TEST_CASE("rows of a table of another size go once its counts are written anew") {
    const File file;
    LimitSpec large = spec("a", 1h, "client_ip");
    large.max_keys = 1'000'000;
    {
        Run run{file.path()};
        const LimitPtr limit = run.registry.obtain(large);
        for (std::uint64_t i = 0; i < 500; ++i)
            CHECK(charge(limit, 1, run.registry.hasher()(std::to_string(i))));
        run.persistence->finish();
    }
    CHECK(file.rows() > 400);
    LimitSpec small = large;
    small.max_keys = 1000;
    for (int round = 0; round < 2; ++round) {
        Run run{file.path()};
        const LimitPtr limit = run.registry.obtain(small);
        CHECK(limit->live_keys(net::read_clocks()) == 500);
        run.persistence->finish();
        CHECK(file.rows() <= 64);
    }
}

TEST_CASE("only an end in order opens the next start") {
    const File file;
    {
        Run first{file.path(), true};
        const LimitPtr limit = first.registry.obtain(spec("a"));
        CHECK_FALSE(charge(limit, 100));
        const auto none = spec("cap");
        LimitSpec cap = none;
        cap.identity.algorithm = limits::Algorithm::concurrency;
        CHECK(charge(first.registry.obtain(cap), 100));
    }
    CHECK(file.rows("stint") == 3);
    {
        Run second{file.path(), true};
        CHECK(charge(second.registry.obtain(spec("a")), 100));
    }
    std::filesystem::resize_file(file.path(), 5000);
    Run third{file.path(), true};
    CHECK_FALSE(charge(third.registry.obtain(spec("a")), 100));
}

TEST_CASE("without a file nothing is kept, and a start may still be closed") {
    Run run{"", true};

    CHECK_FALSE(run.persistence->collect_metrics());
    CHECK_FALSE(charge(run.registry.obtain(spec("a")), 100));
    CHECK_FALSE(Run{"", false}.persistence->collect_metrics());
}

TEST_CASE("a file in no folder is a failure that is counted, and nothing more") {
    Run run{"/none/such/state.db"};

    REQUIRE(run.persistence->collect_metrics());
    CHECK(run.persistence->collect_metrics()->writes == 0);
    CHECK(run.persistence->collect_metrics()->write_failures == 1);
    CHECK(charge(run.registry.obtain(spec("a")), 1));
}

namespace {

// Waits until it is written, as who is granted one does.
std::optional<locks::Grant> enter(Run& run, const std::string& name) {
    const Now now = net::read_clocks();
    const auto lock = std::get<locks::LockPtr>(run.locks.obtain(name, 1, now));
    const limits::Charge slot = lock->charge();
    limits::Decision decision = limits::try_admit({&slot, 1}, now);
    if (!decision.allowed())
        return std::nullopt;
    locks::LeaseRequest wish;
    wish.ttl = 10s;
    const auto grant = run.locks.grant(lock, wish, std::move(decision.permit), now).value();
    while (run.locks.kept(grant) == locks::LockManager::Durability::not_yet)
        std::this_thread::yield();
    if (run.locks.kept(grant) == locks::LockManager::Durability::no)
        return std::nullopt;
    return grant;
}

} // namespace

TEST_CASE("who holds a lock holds it in the next run, and fences rise") {
    const File file;
    std::uint64_t fence = 0;
    {
        Run run{file.path()};
        CHECK(run.persistence->holders_known());
        run.locks.configure({}, 10, 10, net::read_clocks());
        const auto kept = enter(run, "kept");
        const auto given_back = enter(run, "back");
        REQUIRE(kept);
        REQUIRE(given_back);
        CHECK(
            run.locks.end("back", given_back->id, locks::EndReason::released, net::read_clocks()));
        fence = given_back->fence;
        run.persistence->finish();
    }
    CHECK(file.rows("leases") == 1);
    Run run{file.path()};
    run.locks.configure({}, 10, 10, net::read_clocks());

    CHECK(run.persistence->holders_known());
    CHECK_FALSE(enter(run, "kept"));
    const auto next = enter(run, "back");
    REQUIRE(next);
    CHECK(next->fence > fence);
}

TEST_CASE("counts are written also while leases never stop coming") {
    const File file;
    Run run{file.path()};
    run.locks.configure({}, 10, 10, net::read_clocks());
    const LimitPtr limit = run.registry.obtain(spec("a"));
    CHECK(charge(limit, 100));
    std::jthread asking{[&run](const std::stop_token& enough) {
        while (!enough.stop_requested()) { // without waiting: there is always one to be written
            const Now now = net::read_clocks();
            const auto obtained = run.locks.obtain("a", 1, now);
            if (!std::holds_alternative<locks::LockPtr>(obtained))
                continue; // too many are still to be written
            const auto& lock = std::get<locks::LockPtr>(obtained);
            const limits::Charge slot = lock->charge();
            limits::Decision decision = limits::try_admit({&slot, 1}, now);
            locks::LeaseRequest wish;
            wish.ttl = 10s;
            if (decision.allowed())
                (void)run.locks.end(
                    "a", run.locks.grant(lock, wish, std::move(decision.permit), now).value().id,
                    locks::EndReason::released, now);
        }
    }};

    std::size_t rows = 0;
    for (int tries = 0; tries < 50 && rows == 0; ++tries) {
        std::this_thread::sleep_for(100ms);
        if (auto store = state::Store::open(file.killed()))
            if (const auto counters = store->rows("counters"))
                rows = counters->size();
    }
    CHECK(rows == 1);
}

TEST_CASE("a kill forgets nothing from before the latest round of writes") {
    const File file;
    Run run{file.path()};
    LimitSpec wide = spec("wide", 1h, "client_ip");
    wide.max_keys = 1'000'000;
    const LimitPtr limit = run.registry.obtain(wide);
    const auto key = [&](std::size_t i) { return run.registry.hasher()(std::to_string(i)); };
    std::vector<std::size_t> before; // the end of each round: how many were charged surely before
    double round = 0;                // how long the latest took
    std::size_t charged = 0;
    const SteadyTime begun = net::read_steady_clock();
    while (before.size() < 3 && charged < wide.max_keys) {
        const double latest = run.persistence->collect_metrics()->round_seconds;
        if (std::exchange(round, latest) != latest)
            before.push_back(charged - 1);
        CHECK(charge(limit, 1, key(charged)));
        ++charged;
        std::this_thread::sleep_until(begun + charged * 25us); // 40,000 a second
    }
    const std::string copy = file.killed();
    REQUIRE(before.size() == 3);

    Run next{copy};
    const LimitPtr restored = next.registry.obtain(wide);
    std::size_t kept = 0;
    while (kept < charged && !charge(restored, 1, key(kept)))
        ++kept;
    MESSAGE("kept " << kept << " of " << charged);
    CHECK(kept >= before[1]); // the third round has begun after the second one
}

TEST_CASE("a file from before the machine went down does not know all holders") {
    const File file;
    { Run run{file.path()}; }
    const auto write = [&](const char* key, std::optional<std::string> value) {
        auto store = state::Store::open(file.path());
        REQUIRE(store.has_value());
        const state::Change change{"stint", key, std::move(value)};
        REQUIRE(store->write({&change, 1}).has_value());
    };
    write("ended", std::nullopt); // it was killed
    CHECK(Run{file.path()}.persistence->holders_known());
    write("ended", std::nullopt);
    write("boot", "another");
    CHECK_FALSE(Run{file.path()}.persistence->holders_known());
    { // they are known when whatever may have been held is over, and not before
        Run run{file.path()};
        CHECK_FALSE(run.persistence->holders_known());
        run.persistence->holders_known_from(net::read_steady_clock());
        run.persistence->finish();
    }
    CHECK(Run{file.path()}.persistence->holders_known());
    write("boot", "another"); // which ended in order
    CHECK(Run{file.path()}.persistence->holders_known());
}

TEST_CASE(
    "the holders stay unknown if a broken file is moved aside and the new one never written") {
    const File file;
    std::ofstream{file.path()} << std::string(8192, 'x');
    {
        runtime::StateFile opened{file.path()};
        REQUIRE(opened.open());
    }

    CHECK_FALSE(Run{file.path()}.persistence->holders_known());
}

TEST_CASE("where nothing can be written nothing is granted, and later it is again") {
    tls::Folder folder;
    const std::string place = folder.path("place");
    Run run{place + "/state.db"}; // there is no such folder
    run.locks.configure({}, 10, 10, net::read_clocks());

    CHECK_FALSE(run.persistence->holders_known());
    CHECK_FALSE(enter(run, "a"));
    CHECK(run.locks.collect_metrics().back().held == 0);
}

TEST_CASE("an end leaves the file to another process, and after go_on() all is written again") {
    const File file;
    Run run{file.path()};
    const LimitPtr limit = run.registry.obtain(spec("a"));
    CHECK(charge(limit, 5));

    run.persistence->finish();

    {
        auto store = state::Store::open(file.path()); // is locked by nobody
        REQUIRE(store.has_value());
        CHECK(store->rows("counters")->size() == 1);
        const state::Change gone{"counters", store->rows("counters")->front().key, std::nullopt};
        REQUIRE(store->write({&gone, 1}).has_value());
    }
    run.persistence->go_on();
    CHECK(Run{file.killed(), true}.persistence->closed()); // no orderly end any more
    CHECK(charge(limit, 5));
    run.persistence->finish();
    Run later{file.path()};
    CHECK(used(later.registry.obtain(spec("a"))) == 2);
}

TEST_CASE("a state that was handed over counts in place of the file's") {
    const File file;
    runtime::StateFile::Contents handed;
    {
        Run run{file.path()};
        const LimitPtr limit = run.registry.obtain(spec("a", 1s)); // too short for the file
        CHECK(charge(limit, 5));
        run.persistence->finish();
        const KeyHasher::Key& key = run.registry.hasher().key();
        handed.own.push_back({Persistence::hash_key, {key.begin(), key.end()}});
        const runtime::SavedClock now = runtime::SavedClock::read();
        std::vector<limits::SavedPage> pages;
        limit->save(0, ~std::uint64_t{0}, now.at, pages);
        for (const limits::SavedPage& page : pages)
            handed.counters.push_back(
                {runtime::row_key(runtime::key_of(limit->identity()), page.page),
                 runtime::row_value(page, now)});
    }
    Registry registry;
    test::SilentRoom room;
    locks::LockManager locks{registry, room.scheduler(), net::read_clocks().wall};

    Persistence persistence{config::State{file.path(), true}, registry, locks, handed};

    CHECK(persistence.holders_known());
    CHECK(used(registry.obtain(spec("a", 1s))) == 1);
}
