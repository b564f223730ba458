#include "admin/overlay.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>

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
    REQUIRE(overlay.overrides().put(
        "buckets", {"a", {.quota = 5, .burst = 7}, shown_at.steady + 1500ms, since}));
    REQUIRE(overlay.overrides().put("buckets", {"b*", {.quota = 6, .burst = 6}, {}, since}));
    REQUIRE(overlay.overrides().put("buckets", {"c", {.quota = 1}, shown_at.steady, since}));

    const admin::Json shown = admin::overlay_json(overlay, config_with_buckets(), shown_at);

    REQUIRE(shown.size() == 2); // one has expired
    CHECK(shown[0]["kind"] == "override");
    CHECK(shown[0]["limit"] == "buckets");
    CHECK(shown[0]["key"] == "a");
    CHECK(shown[0]["value"] == admin::Json{{"limit", 5}, {"burst", 7}});
    CHECK(shown[0]["since"] == "1970-01-01T23:59:58.000Z");
    CHECK(shown[0]["until"] == "1970-01-02T00:00:01.500Z");
    CHECK(shown[0]["expires_in_ms"] == 1500);
    CHECK(shown[1]["key"] == "b*");
    CHECK_FALSE(shown[1].contains("until"));
}

TEST_CASE("drained endpoints and ended leases follow the overrides") {
    runtime::RuntimeOverlay overlay;
    const auto state = std::make_shared<upstream::EndpointState>("10.0.0.1:80");
    overlay.drain("up", state, shown_at);
    overlay.note_ended({"jobs", "1f", shown_at.wall});

    CHECK(
        admin::overlay_json(overlay, {}, shown_at) == admin::Json::array(
                                                          {{{"kind", "drained_endpoint"},
                                                            {"since", "1970-01-02T00:00:00.000Z"},
                                                            {"upstream", "up"},
                                                            {"endpoint", "10.0.0.1:80"}},
                                                           {{"kind", "ended_lease"},
                                                            {"since", "1970-01-02T00:00:00.000Z"},
                                                            {"lock", "jobs"},
                                                            {"lease", "1f"}}}));
}
