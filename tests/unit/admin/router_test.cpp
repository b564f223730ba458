#include "admin/router.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using namespace stint::admin;

// The status of the answer to a request that has no target, 0 if it has one.
int refused(std::string_view method, std::string_view path) {
    const auto target = find_target(method, path);
    return target ? 0 : target.error().status;
}

std::string allow(std::string_view method, std::string_view path) {
    const auto target = find_target(method, path);
    for (const auto& [name, value] : target ? Response{}.fields : target.error().fields)
        if (name == "Allow")
            return value;
    return "(none)";
}

} // namespace

TEST_CASE("every endpoint can be read by GET and HEAD") {
    const std::pair<std::string_view, Endpoint> all[]{
        {"/metrics", Endpoint::metrics},
        {"/healthz", Endpoint::healthz},
        {"/readyz", Endpoint::readyz},
        {"/config", Endpoint::config},
        {"/cooldowns", Endpoint::cooldowns},
        {"/limits", Endpoint::limits},
        {"/limits/a", Endpoint::limit},
        {"/limits/a/top", Endpoint::top},
        {"/limits/a/forecast", Endpoint::forecast},
        {"/routes", Endpoint::routes},
        {"/upstreams", Endpoint::upstreams},
        {"/version", Endpoint::version},
        {"/overlay", Endpoint::overlay}};
    for (const auto& [path, endpoint] : all)
        for (const auto* method : {"GET", "HEAD"}) {
            const auto target = find_target(method, path);
            REQUIRE_MESSAGE(target.has_value(), std::string{path});
            CHECK_MESSAGE(target->endpoint == endpoint, std::string{path});
        }
}

TEST_CASE("a limit is named by the rest of the path, decoded") {
    CHECK(find_target("GET", "/limits/per_client")->name == "per_client");
    CHECK(find_target("GET", "/limits/per%5Fclient")->name == "per_client");
    CHECK(find_target("GET", "/limits/a%2Fb")->name == "a/b");
    CHECK(find_target("GET", "/limits/a%2Fb/top")->name == "a/b");
}

TEST_CASE("a malformed escape in a name is a bad request") {
    CHECK(refused("GET", "/limits/%ZZ") == 400);
}

TEST_CASE("what does not exist is not found, whatever the method") {
    for (const auto* path :
         {"/", "", "*", "/limits/", "/limits/a/b", "/limits/a/top/", "/metrics/", "/Metrics",
          "/config/reload/x"}) {
        CHECK_MESSAGE(refused("GET", path) == 404, path);
        CHECK_MESSAGE(refused("POST", path) == 404, path);
    }
}

TEST_CASE("what can be read alone refuses other methods and names its own") {
    for (const auto* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
        CHECK_MESSAGE(refused(method, "/limits") == 405, method);
        CHECK_MESSAGE(allow(method, "/limits/a") == "GET, HEAD", method);
    }
}

TEST_CASE("an explanation is asked for by POST alone") {
    CHECK(find_target("POST", "/explain")->endpoint == Endpoint::explain);
    CHECK(refused("GET", "/explain") == 405);
    CHECK(allow("PUT", "/explain") == "POST");
}

TEST_CASE("an endpoint is drained and enabled by POST, its upstream and its text are decoded") {
    const auto target = find_target("POST", "/upstreams/shop/endpoints/unix:%2Frun%2Fa/drain");
    REQUIRE(target.has_value());
    CHECK(target->endpoint == Endpoint::drain);
    CHECK(target->name == "shop");
    CHECK(target->key == "unix:/run/a");
    CHECK(find_target("POST", "/upstreams/s/endpoints/a:1/enable")->endpoint == Endpoint::enable);
    CHECK(allow("GET", "/upstreams/s/endpoints/a:1/enable") == "POST");
    CHECK(refused("POST", "/upstreams/s/endpoints/a:1/stop") == 404);
    CHECK(refused("POST", "/upstreams/s/endpoint/a:1/drain") == 404);
    CHECK(refused("POST", "/upstreams/s/endpoints/a:1") == 404);
    CHECK(refused("POST", "/upstreams/s/endpoints/%/drain") == 400);
}

TEST_CASE("an override is set by PUT and ended by DELETE, its key is decoded") {
    const auto target = find_target("PUT", "/limits/a/overrides/k%2Fe%20y");
    REQUIRE(target.has_value());
    CHECK(target->endpoint == Endpoint::override_of_key);
    CHECK(target->name == "a");
    CHECK(target->key == "k/e y");
    CHECK(find_target("DELETE", "/limits/a/overrides/premium-*")->key == "premium-*");
    CHECK(allow("GET", "/limits/a/overrides/k") == "PUT, DELETE");
    const auto whole = find_target("PUT", "/limits/a/overrides");
    REQUIRE(whole.has_value());
    CHECK(whole->endpoint == Endpoint::override_of_key);
    CHECK(whole->key.empty());
    CHECK(refused("PUT", "/limits/a/overrides/") == 404);
    CHECK(refused("PUT", "/limits/a/overrides/k/e") == 404);
    CHECK(refused("PUT", "/limits/a/overrides/%") == 400);
}

TEST_CASE("what an emergency needs of a limit") {
    const auto block = find_target("POST", "/limits/a%20b/block");
    REQUIRE(block.has_value());
    CHECK(block->endpoint == Endpoint::block);
    CHECK(block->name == "a b");
    CHECK(find_target("POST", "/limits/a/unblock")->endpoint == Endpoint::unblock);
    CHECK(find_target("POST", "/limits/a/enforce")->endpoint == Endpoint::enforce);
    CHECK(find_target("DELETE", "/limits/a/enforce")->endpoint == Endpoint::enforce);
    CHECK(find_target("DELETE", "/limits/a/counters")->endpoint == Endpoint::counters);
    CHECK(allow("GET", "/limits/a/block") == "POST");
    CHECK(allow("GET", "/limits/a/enforce") == "POST, DELETE");
    CHECK(allow("POST", "/limits/a/counters") == "DELETE");
    CHECK(refused("POST", "/limits/a/blocks") == 404);
    CHECK(find_target("GET", "/changes")->endpoint == Endpoint::changes);
}

TEST_CASE("a reload is made by POST alone") {
    CHECK(find_target("POST", "/config/reload")->endpoint == Endpoint::reload);
    for (const auto* method : {"GET", "HEAD", "OPTIONS", "PUT"}) {
        CHECK_MESSAGE(refused(method, "/config/reload") == 405, method);
        CHECK_MESSAGE(allow(method, "/config/reload") == "POST", method);
    }
}
