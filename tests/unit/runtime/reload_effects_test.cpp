// What a reload keeps and begins anew, as it is foretold, against what it does.
#include "config/load.hpp"
#include "runtime/compile.hpp"
#include "runtime/reload_effects.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using Names = std::vector<std::string>;

config::Config read(const std::string& yaml) {
    auto config = config::load_text(
        "listeners: [{address: 127.0.0.1:1}]\npermits: {address: 127.0.0.1:2}\n" + yaml,
        "test.yaml");
    if (!config)
        throw std::runtime_error{config.error().front().text()};
    return std::move(*config);
}

constexpr std::string_view up = "upstreams: {u: {endpoints: [127.0.0.1:9000]}}\nroutes: []\n";

runtime::ReloadEffects effects(const std::string& former, const std::string& next) {
    return runtime::reload_effects(read(former + std::string{up}), read(next + std::string{up}));
}

// The forms that a limit may have: pairs of them have other numbers, another identity, or another
// kind.
constexpr std::array<std::string_view, 14> forms{
    "{requests: 1, per: 1s}",
    "{requests: 2, per: 1s}",
    "{requests: 2, per: 2s}",
    "{requests: 2, per: 1s, anchor: clock}",
    "{requests: 2, per: 1s, algorithm: sliding_window}",
    "{requests: 2, per: 1s, algorithm: token_bucket, burst: 9}",
    "{requests: 2, per: 1s, algorithm: token_bucket}",
    "{requests: 2, per: 1s, key: client_ip}",
    "{requests: 2, per: 1s, key: client_ip, ipv4_prefix: 24}",
    "{requests: 2, per: 1s, key: 'header:X-Key', enforce: false}",
    "{requests: 2, per: day}",
    "{requests: 2, per: day, time_zone: Europe/Berlin}",
    "{concurrent: 2}",
    "{concurrent: 2, key: client_ip}"};

// Returns a configuration with some of the limits a to e, in any form and order, some of them of a
// route's own, and sometimes other prefixes for all.
std::string any_configuration(std::mt19937& random) {
    std::array<std::string, 5> names{"a", "b", "c", "d", "e"};
    std::shuffle(names.begin(), names.end(), random);
    std::string limits;
    std::string own;
    for (const std::string& name : names) {
        const std::string form{forms.at(random() % forms.size())};
        const auto where = random() % 6;
        if (where == 0)
            own += (own.empty() ? "{name: " : ", {name: ") + name + ", " + form.substr(1);
        else if (where < 5)
            limits += "  " + name + ": " + form + "\n";
    }
    return (random() % 4 == 0 ? "ipv4_prefix: 16\n" : "") +
           (limits.empty() ? "" : "limits:\n" + limits) + "locks: {l: {max: 2}}\n" +
           "upstreams: {u: {endpoints: [127.0.0.1:9000]}}\n"
           "routes: [{name: r, upstream: u, limits: [" +
           own + "]}]\n";
}

// What one process keeps from configuration to configuration.
struct Process {
    std::map<std::string, limits::LimitPtr> reload(const config::Config& config) {
        const runtime::Compiled compiled = runtime::compile(config, registry, slots, ++generation);
        std::map<std::string, limits::LimitPtr> by_name;
        std::vector<limits::LimitPtr> kept;
        for (const runtime::ConfiguredLimit& each : compiled.limits) {
            by_name.emplace(each.limit->identity().name, each.limit);
            kept.push_back(each.limit);
        }
        registry.keep(std::move(kept));
        return by_name;
    }

    limits::Registry registry;
    observe::MetricSlots slots;
    std::uint64_t generation = 0;
};

Names sorted(Names names) {
    std::ranges::sort(names);
    return names;
}

} // namespace

TEST_CASE("a reload keeps the counters that it was said to keep, and no others") {
    std::mt19937 random{23};
    std::size_t anew = 0;
    for (int round = 0; round < 300; ++round) {
        const config::Config former = read(any_configuration(random));
        const config::Config next = read(any_configuration(random));
        const runtime::CounterEffects foretold = runtime::counter_effects(former, next);

        Process process;
        const auto before = process.reload(former);
        const auto after = process.reload(next);

        Names kept;
        Names begin_anew;
        Names ended;
        for (const auto& [name, limit] : before)
            if (const auto now = after.find(name); now == after.end())
                ended.push_back(name);
            else
                (now->second == limit ? kept : begin_anew).push_back(name);
        CHECK(sorted(foretold.kept) == kept);
        CHECK(sorted(foretold.begin_anew) == begin_anew);
        CHECK(sorted(foretold.ended) == ended);
        anew += begin_anew.size();
    }
    CHECK(anew > 100);
}

TEST_CASE("the notes of a reload name what begins anew, and what needs a restart") {
    const config::Config former = read("limits: {a: {requests: 1, per: 1s}}\n" + std::string{up});
    const config::Config next =
        read("workers: 7\nlimits: {a: {requests: 1, per: 2s}}\n" + std::string{up});

    CHECK(
        runtime::reload_notes(former, next, runtime::counter_effects(former, next)) ==
        Names{
            "limit a: its kind, key, anchor or per has changed, so its counts begin anew",
            "workers: takes effect with a restart"});
}

TEST_CASE("a limit that is no more is forgotten as one that begins anew") {
    const auto counters = effects(
                              "limits: {a: {requests: 1, per: 1s}, b: {concurrent: 1}}\n",
                              "limits: {a: {requests: 1, per: 2s}}\n")
                              .counters;
    CHECK(counters.forgotten() == Names{"a", "b"});
}

TEST_CASE("limits, caps and locks are told apart") {
    const runtime::ReloadEffects made = effects(
        "limits: {a: {requests: 1, per: 1s}, c: {concurrent: 1}}\nlocks: {l: {max: 1}}\n",
        "limits: {a: {requests: 2, per: 1s}, d: {concurrent: 1}}\nlocks: {l: {max: 2}, m: }\n");

    CHECK(made.limits.changed == Names{"a"});
    CHECK(made.caps.added == Names{"d"});
    CHECK(made.caps.removed == Names{"c"});
    CHECK(made.locks.changed == Names{"l"});
    CHECK(made.locks.added == Names{"m"});
    CHECK(made.counters.kept == Names{"a", "lock:l"});
}

TEST_CASE("a limit that becomes a cap is another part, and its counts begin anew") {
    const runtime::ReloadEffects made =
        effects("limits: {a: {requests: 1, per: 1s}}\n", "limits: {a: {concurrent: 1}}\n");

    CHECK(made.limits.removed == Names{"a"});
    CHECK(made.caps.added == Names{"a"});
    CHECK(made.counters.begin_anew == Names{"a"});
}

TEST_CASE("a prefix of the top level changes the limits that have none of their own") {
    const std::string limits = "limits:\n"
                               "  a: {requests: 1, per: 1s, key: client_ip}\n"
                               "  b: {requests: 1, per: 1s, key: client_ip, ipv4_prefix: 24}\n";
    const runtime::ReloadEffects made = effects(limits, "ipv4_prefix: 16\n" + limits);

    CHECK(made.limits.changed == Names{"a"});
    CHECK(made.counters.begin_anew == Names{"a"});
    CHECK(made.counters.kept == Names{"b"});
}

TEST_CASE("endpoints and cool-downs are compared by what keeps their state") {
    const auto upstream = [](std::string_view endpoints, std::string_view cooldown) {
        return read(
            "upstreams: {u: {endpoints: [" + std::string{endpoints} +
            "], cooldown: " + std::string{cooldown} + "}}\nroutes: [{name: r, upstream: u}]\n");
    };
    const runtime::ReloadEffects made = runtime::reload_effects(
        upstream("127.0.0.1:1, 127.0.0.1:2", "{scope: host}"),
        upstream(
            "{address: 127.0.0.1:2, weight: 3}, 127.0.0.1:3", "{scope: host, max_cooldown: 1m}"));

    CHECK(made.endpoints.added == Names{"u 127.0.0.1:3"});
    CHECK(made.endpoints.removed == Names{"u 127.0.0.1:1"});
    CHECK(made.endpoints.changed == Names{"u 127.0.0.1:2"});
    CHECK(made.cooldowns.changed == Names{"upstream:u host"});

    const runtime::ReloadEffects other = runtime::reload_effects(
        upstream("127.0.0.1:1", "{scope: host}"), upstream("127.0.0.1:1", "{scope: route}"));
    CHECK(other.cooldowns.removed == Names{"upstream:u host"});
    CHECK(other.cooldowns.added == Names{"route:r route"});
}

TEST_CASE("a set of pauses has changed if one of the sections of its routes has") {
    const auto routes = [](std::string_view longest) {
        return read(
            "upstreams: {u: {endpoints: [127.0.0.1:1], cooldown: {scope: host}}}\n"
            "routes:\n"
            "  - {name: r, match: {path: /r}, upstream: u}\n"
            "  - {name: s, match: {path: /s}, upstream: u, cooldown: {scope: host, max_cooldown: " +
            std::string{longest} + "}}\n");
    };

    const runtime::ReloadEffects made = runtime::reload_effects(routes("1m"), routes("2m"));

    CHECK(made.cooldowns.changed == Names{"upstream:u host"});
    CHECK(made.cooldowns.added.empty());
    CHECK(runtime::reload_effects(routes("1m"), routes("1m")).cooldowns.changed.empty());
}
