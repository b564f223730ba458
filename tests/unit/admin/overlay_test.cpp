#include "admin/overlay.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace stint;
using namespace std::chrono_literals;

namespace {

const Now shown_at{SteadyTime{1h}, WallTime{24h}};

config::Config config_with_buckets() {
    config::Config config;
    config::Limit limit;
    limit.name = "buckets";
    limit.algorithm = config::Limit::Algorithm::token_bucket;
    config.limits.push_back(limit);
    return config;
}

} // namespace

TEST_CASE("an override is shown with its value, and with its end if it has one") {
    runtime::RuntimeOverlay overlay;
    const WallTime since = shown_at.wall - 2s;
    const auto put = [&](std::string key, limits::Numbers numbers,
                         std::optional<SteadyTime> expires, runtime::Attribution by = {}) {
        REQUIRE(overlay.limits().put(
            {.target = {"buckets", runtime::LimitChange::Kind::numbers, std::move(key)},
             .numbers = numbers,
             .by = std::move(by),
             .since = since,
             .expires = expires}));
    };
    put("", {9, 9}, {});
    put("a", {5, 7}, shown_at.steady + 1500ms, {"ann", "launch"});
    put("b*", {6, 6}, {});
    put("c", {1, 0}, shown_at.steady);

    const admin::Json shown = admin::overlay_json(overlay, config_with_buckets(), shown_at);

    REQUIRE(shown.size() == 3); // one has expired
    CHECK_FALSE(shown[0].contains("key"));
    CHECK(
        shown[1] == admin::Json{
                        {"kind", "override"},
                        {"since", "1970-01-01T23:59:58.000Z"},
                        {"who", "ann"},
                        {"why", "launch"},
                        {"limit", "buckets"},
                        {"key", "a"},
                        {"value", {{"limit", 5}, {"burst", 7}}},
                        {"until", "1970-01-02T00:00:01.500Z"},
                        {"expires_in_ms", 1500}});
    CHECK(shown[2]["key"] == "b*");
    CHECK_FALSE(shown[2].contains("until"));
}

TEST_CASE("blocks and a switch of enforce are shown") {
    using Kind = runtime::LimitChange::Kind;
    runtime::RuntimeOverlay overlay;
    REQUIRE(overlay.limits().put({.target = {"buckets", Kind::block_key, "k"}}));
    REQUIRE(overlay.limits().put({.target = {"buckets", Kind::block_client, "192.0.2.0/24"}}));
    REQUIRE(overlay.limits().put({.target = {"buckets", Kind::enforce, ""}, .enforce = false}));

    const admin::Json shown = admin::overlay_json(overlay, config_with_buckets(), shown_at);

    REQUIRE(shown.size() == 3);
    CHECK(shown[0]["kind"] == "block");
    CHECK(shown[0]["key"] == "k");
    CHECK(shown[1]["client"] == "192.0.2.0/24");
    CHECK(shown[2]["kind"] == "enforce");
    CHECK(shown[2]["value"] == false);
}

TEST_CASE("drained endpoints, ended leases and cleared counters follow the changes of limits") {
    runtime::RuntimeOverlay overlay;
    const auto state = std::make_shared<upstream::EndpointState>("10.0.0.1:80");
    overlay.drain("up", state, shown_at, {"ann", ""});
    overlay.ended_leases().add({"jobs", "1f", shown_at.wall, {}});
    overlay.cleared().add({"l", "k", shown_at.wall, {"", "a mistake"}});

    const std::string now = "1970-01-02T00:00:00.000Z";
    CHECK(
        admin::overlay_json(overlay, {}, shown_at) ==
        admin::Json::array(
            {{{"kind", "drained_endpoint"},
              {"since", now},
              {"who", "ann"},
              {"upstream", "up"},
              {"endpoint", "10.0.0.1:80"}},
             {{"kind", "ended_lease"}, {"since", now}, {"lock", "jobs"}, {"lease", "1f"}},
             {{"kind", "cleared_counters"},
              {"since", now},
              {"why", "a mistake"},
              {"limit", "l"},
              {"key", "k"}}}));
}
