#include "config/load.hpp"
#include "made_certificates.hpp"
#include "runtime/config_store.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using Kind = runtime::LimitChange::Kind;

constexpr std::string_view changeable =
    "listeners: [{address: 127.0.0.1:1}]\n"
    "permits: {address: 127.0.0.1:2}\n"
    "upstreams: {u: {endpoints: [127.0.0.1:9000]}}\n"
    "limits:\n"
    "  clients: {requests: 5, per: 1m, key: client_ip}\n"
    "  queued: {requests: 7, per: 1m, when_exceeded: wait, enforce: false}\n"
    "  slots: {requests: 9, per: 1m, retry_after: reserve, reserve_for: client_ip, enforce: "
    "false}\n"
    "routes:\n"
    "  - {name: a, match: {path: /a}, upstream: u, limits: [clients, {limit: queued, status: "
    "503}]}\n"
    "  - {name: b, match: {path: /b}, upstream: u, limits: [slots]}\n";

// A store with the configuration in force, and the changes of its operators.
struct ChangedStore {
    ChangedStore() {
        const runtime::LoadedConfigPtr loaded = store.in_force();
        store.put_in_force(loaded, store.compiled_from(*loaded, changes, 1));
    }

    static config::Config load() {
        auto loaded = config::load_text(changeable, "test.yaml");
        if (!loaded)
            throw std::runtime_error{loaded.error().front().text()};
        return std::move(*loaded);
    }

    void put(runtime::LimitChange change) {
        const std::string limit = change.target.limit;
        REQUIRE(changes.put(std::move(change)));
        changed = store.change_limits({limit}, changes);
    }
    void erase(const runtime::LimitChange::Target& target) {
        REQUIRE(changes.erase(target));
        changed = store.change_limits({target.limit}, changes);
    }

    const routing::LimitTerms& terms(std::string_view limit) {
        return *store.compiled().snapshot->limits.at(*store.limit_named(limit));
    }
    const routing::Route& route(std::size_t i) {
        return store.compiled().snapshot->routes.routes().at(i);
    }

    net::asio::io_context control;
    limits::Registry registry;
    runtime::ConfigStore store{load(), "test.yaml", registry, control.get_executor()};
    runtime::LimitChanges changes;
    std::vector<runtime::ConfiguredLimit> changed; // by the last put() or erase()
};

} // namespace

TEST_CASE("a changed limit is the only thing that a new snapshot does not share") {
    ChangedStore at;
    const routing::SnapshotPtr before = at.store.compiled().snapshot;

    at.put({.target = {"clients", Kind::numbers, ""}, .numbers = {50, 0}});

    const routing::SnapshotPtr after = at.store.compiled().snapshot;
    CHECK(after != before);
    CHECK(after->generation == before->generation);
    CHECK(&after->routes.routes() == &before->routes.routes());
    CHECK(after->upstreams == before->upstreams);
    CHECK(after->permits == before->permits);
    const std::size_t changed = *at.store.limit_named("clients");
    REQUIRE(after->limits.size() == before->limits.size());
    for (std::size_t i = 0; i < after->limits.size(); ++i) {
        CHECK((after->limits[i] == before->limits[i]) == (i != changed));
        CHECK(after->limits[i]->limit == before->limits[i]->limit);
    }
    CHECK(before->limits[changed]->quota == 5); // for requests that have begun with it
    CHECK(after->limits[changed]->quota == 50);
    CHECK(at.store.compiled().limits[changed].numbers.quota == 50);
    REQUIRE(at.changed.size() == 1);
    CHECK(at.changed[0].numbers.quota == 50);
}

TEST_CASE("a block is in force as an entry of deny, until it ends") {
    ChangedStore at;
    CHECK(at.terms("clients").rules == nullptr);

    at.put({.target = {"clients", Kind::block_key, "192.0.2.1"}});
    at.put({.target = {"clients", Kind::block_client, "198.51.100.0/24"}});
    REQUIRE(at.terms("clients").rules != nullptr);
    CHECK(at.terms("clients").rules->deny.contains(IpAddress{}, "192.0.2.1"));
    CHECK(at.terms("clients").rules->deny.contains(IpAddress::parse("198.51.100.7").value(), "k"));

    at.erase({"clients", Kind::block_key, "192.0.2.1"});
    CHECK_FALSE(at.terms("clients").rules->deny.contains(IpAddress{}, "192.0.2.1"));
    at.erase({"clients", Kind::block_client, "198.51.100.0/24"});
    CHECK(at.terms("clients").rules == nullptr);
}

TEST_CASE("a limit that only looked on waits or reserves once an operator enforces it") {
    ChangedStore at;
    CHECK(at.route(0).may_wait);
    CHECK(at.route(1).may_reserve);
    CHECK_FALSE(at.terms("queued").wait.has_value());
    CHECK(at.terms("slots").reserve_for.empty());

    at.put({.target = {"queued", Kind::enforce, ""}, .enforce = true});
    at.put({.target = {"slots", Kind::enforce, ""}, .enforce = true});

    CHECK(at.terms("queued").wait.has_value());
    CHECK(at.terms("queued").dry_run_wait == Duration::zero());
    CHECK(at.terms("queued").wait->metric < at.store.slots().waits().size());
    CHECK_FALSE(at.terms("slots").reserve_for.empty());
    at.erase({"queued", Kind::enforce, ""});
    CHECK_FALSE(at.terms("queued").wait.has_value());
    CHECK(at.terms("queued").dry_run_wait > Duration::zero());
}

TEST_CASE("the control thread destroys a former snapshot, whoever drops it last") {
    ChangedStore at;
    routing::SnapshotPtr held = at.store.compiled().snapshot; // as by a request
    const std::weak_ptr<const routing::LimitTerms> terms = held->limits.front();
    at.put({.target = {"clients", Kind::numbers, ""}, .numbers = {50, 0}});
    CHECK(at.control.poll() == 0);

    std::thread{[&] { held.reset(); }}.join();
    CHECK_FALSE(terms.expired());

    at.control.restart();
    CHECK(at.control.poll() == 1);
    CHECK(terms.expired());
}

TEST_CASE("a change of what is no limit changes nothing") {
    ChangedStore at;
    const auto before = at.store.compiled().snapshot->limits;

    CHECK(at.store.change_limits({"other"}, at.changes).empty());

    CHECK(at.store.compiled().snapshot->limits == before);
}

TEST_CASE("a route's own status is kept over changes of its limit") {
    ChangedStore at;
    at.put({.target = {"queued", Kind::numbers, ""}, .numbers = {1, 0}});

    const routing::Snapshot& snapshot = *at.store.compiled().snapshot;
    const std::size_t index = *at.store.limit_named("queued");
    for (std::size_t i = 0; i < at.route(0).limits.size(); ++i) {
        const bool queued = at.route(0).limits[i].index == index;
        CHECK(snapshot.on(at.route(0), i).refusal_status() == (queued ? 503 : 429));
    }
}

TEST_CASE("the files of a configuration that cannot be loaded are known") {
    const tls::Folder folder;
    const std::string file = folder.path("stint.yaml");
    const std::string more = "listeners: [{address: 127.0.0.1:1}]\n"
                             "upstreams: {u: {endpoints: ['https://127.0.0.1:9000'], tls: {ca: "
                             "new.pem}}}\n"
                             "routes: [{name: all, match: {path: /}, upstream: u}]\n";
    config::Config in_force = ChangedStore::load();
    std::vector<std::string> known;
    SUBCASE("watched after it") {
        folder.write("stint.yaml", "watch: true\n" + more);
        known = {file, folder.path("new.pem")};
    }
    SUBCASE("watched before it, which goes on") {
        in_force.watch = true;
        folder.write("stint.yaml", more);
        known = {file, folder.path("new.pem")};
    }
    SUBCASE("watched never") {
        folder.write("stint.yaml", more);
        known = {file};
    }
    net::asio::io_context control;
    limits::Registry registry;
    runtime::ConfigStore store{std::move(in_force), file, registry, control.get_executor()};

    REQUIRE_FALSE(store.read_file().has_value());
    std::vector<std::string> paths;
    for (const runtime::FileContent& each : store.tried())
        paths.push_back(each.path);
    CHECK(paths == known);
    CHECK(store.tried().front().hash.has_value());
    CHECK_FALSE(store.tried().back().hash.has_value() == (paths.size() > 1));
}
