#include "config_support.hpp"

namespace stint::config {

using namespace std::chrono_literals;

TEST_CASE("the documented configuration gives exactly what it says") {
    const Config config = loaded(shop);

    CHECK(config.workers.count == 0);
    REQUIRE(config.listeners.size() == 1);
    CHECK(config.listeners[0].address.host == "0.0.0.0");
    CHECK(config.listeners[0].address.port == 8080);
    CHECK(config.listeners[0].address.text == "0.0.0.0:8080");
    REQUIRE(config.admin);
    CHECK(config.admin->address.text == "127.0.0.1:9901");
    CHECK(config.timeouts.head == 10s);
    CHECK(config.timeouts.body_idle == 30s);
    CHECK(config.timeouts.idle == 60s);
    CHECK(config.timeouts.connect == 2s);
    CHECK(config.timeouts.response == 60s);
    CHECK(config.timeouts.drain == 10s);
    CHECK(config.load.max_connections == 10'000);
    CHECK(config.heads.max_head == 16'384);
    CHECK(config.access_log.target == LogTarget{});
    REQUIRE(config.upstreams.size() == 1);
    CHECK(config.upstreams[0].name == "shop");
    REQUIRE(config.upstreams[0].endpoints.size() == 1);
    CHECK(config.upstreams[0].endpoints[0].host == "127.0.0.1");
    CHECK(config.upstreams[0].endpoints[0].port == 9000);
}

TEST_CASE("the documented route has its match, its upstream and its limits in order") {
    const Config config = loaded(shop);

    REQUIRE(config.routes.size() == 1);
    const Route& route = config.routes[0];
    CHECK(route.name == "product");
    CHECK(route.match.host == "shop.example");
    CHECK(route.match.path == "/products");
    CHECK(route.match.kind == Match::Path::prefix);
    CHECK(route.match.methods == std::vector<std::string>{"GET", "HEAD"});
    CHECK(config.upstreams.at(route.upstream).name == "shop");
    CHECK(route.limits == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("the documented limits have their numbers, lengths and keys") {
    const Config config = loaded(shop);

    REQUIRE(config.limits.size() == 4);
    const Limit& per_client = config.limits[0];
    CHECK(per_client.name == "per_client");
    CHECK(per_client.route.empty());
    CHECK(per_client.kind == Limit::Kind::window);
    CHECK(per_client.quota == 100);
    CHECK(per_client.per == 1min);
    CHECK(per_client.key == std::vector{KeySource{KeySource::Kind::client_ip, ""}});
    CHECK(per_client.anchor == Limit::Anchor::first_request);
    CHECK(per_client.max_keys == 1'000'000);
    CHECK(config.limits[1].name == "shop_budget");
    CHECK(config.limits[1].per == 800ms);
    CHECK(config.limits[1].key.empty());
    CHECK(config.limits[2].kind == Limit::Kind::cap);
    CHECK(config.limits[2].quota == 3);
    CHECK(config.limits[3].name == "product.4");
    CHECK(config.limits[3].route == "product");
    CHECK(config.limits[3].quota == 10);
}

TEST_CASE("the sample files are right") {
    for (const char* name : {"quickstart.yaml", "api.yaml", "crawler.yaml"}) {
        CAPTURE(name);
        const auto result = load_file(std::string{STINT_SAMPLES "/"} + name);
        INFO((result ? "" : text_of(result.error())));
        REQUIRE(result.has_value());
        CHECK(result->upstreams.at(0).endpoints.at(0).text == "127.0.0.1:9000");
    }
}

TEST_CASE("the permits' sample needs neither listeners nor routes") {
    const auto result = load_file(STINT_SAMPLES "/permits.yaml");

    INFO((result ? "" : text_of(result.error())));
    REQUIRE(result.has_value());
    CHECK(result->listeners.empty());
    CHECK(result->routes.empty());
    CHECK(result->limits.at(0).quota == 5);
    CHECK(result->limits.at(0).per == 800ms);
}

TEST_CASE("all routes of the crawler's sample share its one budget") {
    const auto result = load_file(STINT_SAMPLES "/crawler.yaml");

    REQUIRE(result.has_value());
    CHECK(result->limits[0].quota == 5);
    CHECK(result->limits[0].per == 800ms);
    CHECK(result->limits[0].key.empty());
    for (const Route& route : result->routes)
        CHECK(route.limits.at(0) == 0);
}

} // namespace stint::config
