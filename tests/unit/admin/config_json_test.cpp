#include "admin/config_json.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>

namespace {

using namespace std::chrono_literals;
using namespace stint;
using namespace stint::admin;

config::Address address(const char* text) {
    return {config::Address::Kind::ip, "127.0.0.1", 1, text};
}

config::Config example() {
    config::Config config;
    config.listeners.push_back({address("127.0.0.1:8080"), true});
    config::Upstream upstream;
    upstream.name = "shop";
    upstream.endpoints.push_back({"127.0.0.1", 9000, false, "127.0.0.1:9000"});
    upstream.timeouts.response = 5s;
    upstream.timeouts.body_idle = 6s;
    config.upstreams.push_back(upstream);
    config::Limit window;
    window.name = "per_client";
    window.quota = 100;
    window.per = 1min;
    window.key = {{config::KeySource::Kind::client_ip, ""}};
    config.limits.push_back(window);
    config::Limit cap;
    cap.name = "all.2";
    cap.route = "all";
    cap.kind = config::Limit::Kind::cap;
    cap.quota = 3;
    config.limits.push_back(cap);
    config::Route route;
    route.name = "all";
    route.match.methods = {"GET"};
    route.limits = {0, 1};
    route.timeouts.connect = 1s;
    route.timeouts.response = 7s;
    config.routes.push_back(route);
    return config;
}

} // namespace

TEST_CASE("defaults are filled in, in the form of the file") {
    const Json shown = config_json(example(), {std::nullopt, 4, true});

    CHECK(shown["workers"] == 4);
    CHECK(shown["pin_workers"] == true);
    CHECK(shown["timeouts"]["connect"] == "2s");
    CHECK(shown["timeouts"]["drain"] == "10s");
    CHECK(shown["max_connections"] == 10'000);
    CHECK(shown["max_connections_per_client"] == "off");
    CHECK(shown["max_requests_in_flight"] == "off");
    CHECK(shown["min_rate"] == Json{{"head", "64B"}, {"body", "64B"}, {"after", "10s"}});
    CHECK(shown["max_head"] == "16KiB");
    CHECK(shown["max_target"] == "8KiB");
    CHECK(shown["max_fields"] == 128);
    CHECK(shown["max_body"] == "off");
    CHECK(shown["merge_slashes"] == true);
    CHECK(shown["encoded_slashes"] == "keep");
    CHECK(shown["absolute_form"] == "refuse");
    CHECK(shown["trusted_fields"][0] == "X-Forwarded-*");
    CHECK(shown["forwarded"] == false);
    CHECK(shown["log"] == Json{{"level", "info"}});
    CHECK(shown["access_log"]["path"] == "stdout");
    CHECK(
        shown["listeners"][0] == Json{
                                     {"address", "127.0.0.1:8080"},
                                     {"half_close", "allow"},
                                     {"http", {"http/1.1"}},
                                     {"h2c", false},
                                     {"proxy_protocol", false},
                                     {"redirect_http", false}});
    CHECK(shown["upstreams"]["shop"]["cooldown"] == "off");
    CHECK(shown["upstreams"]["shop"]["retry"] == "off");
}

TEST_CASE("what is taken of requests is shown as it is set") {
    config::Config config = example();
    config.heads.max_target = 1024;
    config.heads.max_fields = 8;
    config.max_body = 0;
    config.routes[0].max_body = 20;
    config.paths = {.merge_slashes = false, .refuse_encoded_slashes = true};
    config.hop.forwarded = true;
    config.paths.routes_absolute_form = true;
    config.trusted_proxies.fields = {"X-Own-*"};

    const Json shown = config_json(config, {});

    CHECK(shown["max_target"] == "1KiB");
    CHECK(shown["max_fields"] == 8);
    CHECK(shown["max_body"] == "0");
    CHECK(shown["routes"][0]["max_body"] == "20B");
    CHECK(shown["merge_slashes"] == false);
    CHECK(shown["encoded_slashes"] == "refuse");
    CHECK(shown["forwarded"] == true);
    CHECK(shown["absolute_form"] == "route");
    CHECK(shown["trusted_fields"] == Json{"X-Own-*"});
}

TEST_CASE("the admin listener is shown as it was opened, not as a reload would have it") {
    config::Config config = example();
    config.admin =
        config::Admin{.address = address("127.0.0.1:1"), .token_file = "", .read_only = true};

    CHECK_FALSE(config_json(config, {std::nullopt, 1}).contains("admin"));
    const Json shown = config_json(
        config, {config::Admin{.address = address("127.0.0.1:2"), .token_file = "/etc/token"}, 1});
    CHECK(
        shown["admin"] == Json{
                              {"address", "127.0.0.1:2"},
                              {"hosts", Json::array()},
                              {"token_file", "/etc/token"},
                              {"open_paths", Json::array({"/healthz", "/readyz"})},
                              {"read_only", false},
                              {"http", {"http/1.1"}},
                              {"h2c", false},
                              {"max_connections", 64},
                              {"max_metric_names", 100}});
}

TEST_CASE("the file of a Unix socket is shown") {
    config::Config config = example();
    config.listeners[0].address = {
        config::Address::Kind::unix_socket, "/s", 0, "unix:/s", 0604, "www", 33};
    config.permits.emplace();
    config.permits->address = {config::Address::Kind::unix_socket, "/p", 0, "unix:/p"};
    config.permits->hosts = {"stint"};

    const Json shown = config_json(config, {});

    CHECK(shown["listeners"][0]["mode"] == "0604");
    CHECK(shown["listeners"][0]["group"] == "www");
    CHECK(shown["permits"]["mode"] == "0660");
    CHECK_FALSE(shown["permits"].contains("group"));
    CHECK(shown["permits"]["hosts"] == Json{"stint"});
}

TEST_CASE("TLS is shown with its files, as a reload has set it") {
    config::Config config = example();
    config::Tls& tls = config.listeners[0].tls.emplace();
    tls.certificates = {{"/a.pem", "/a.key", {}, {}}, {"/b.pem", "/b.key", "/b.ocsp", {}}};
    config.upstreams[0].endpoints[0].tls = true;
    config::Admin admin{.address = address("127.0.0.1:2"), .token_file = ""};
    admin.tls.emplace();
    config.admin = admin;
    config.admin->tls->only_1_3 = true;
    config.admin->read_only = true;

    const Json shown = config_json(config, {admin});

    const Json& listener = shown["listeners"][0]["tls"];
    CHECK(listener["certificates"][0] == Json{{"certificate", "/a.pem"}, {"key", "/a.key"}});
    CHECK(listener["certificates"][1]["ocsp_staple"] == "/b.ocsp");
    CHECK(listener["min_version"] == "1.2");
    for (const char* const key : {"ciphers", "client_certificate", "client_ca"})
        CHECK_FALSE(listener.contains(key));
    CHECK(shown["upstreams"]["shop"]["tls"] == Json{{"verify", true}});
    CHECK(shown["admin"]["tls"]["min_version"] == "1.3");
    CHECK(shown["admin"]["read_only"] == false);
}

TEST_CASE("a route's time-outs are its own, else its upstream's, else the default") {
    const config::Config config = example();
    const config::TimeoutOverrides& upstream = config.upstreams[0].timeouts;

    CHECK(
        timeouts_json(config.timeouts, upstream, config.routes[0].timeouts) ==
        Json{
            {"body_idle_ms", 6000},
            {"connect_ms", 1000},
            {"response_ms", 7000},
            {"tunnel_idle_ms", 600'000}});
    CHECK(
        timeouts_json(config.timeouts, upstream) == Json{
                                                        {"body_idle_ms", 6000},
                                                        {"connect_ms", 2000},
                                                        {"response_ms", 5000},
                                                        {"tunnel_idle_ms", 600'000}});
    const Json shown = config_json(config);
    CHECK(shown["routes"][0]["timeouts"] == Json{{"connect", "1s"}, {"response", "7s"}});
    CHECK(shown["upstreams"]["shop"]["timeouts"] == Json{{"body_idle", "6s"}, {"response", "5s"}});
}

TEST_CASE("how an upstream looks after its endpoints is shown with its defaults") {
    config::Config config = example();
    Json shown = config_json(config, {})["upstreams"]["shop"];
    CHECK(shown["endpoints"] == Json{"127.0.0.1:9000"});
    CHECK(shown["balance"] == "round_robin");
    CHECK(shown["ejection"] == Json{{"failures", 5}, {"for", "10s"}, {"most", "5m"}});
    CHECK(shown["when_all_down"] == "503");
    for (const char* const key : {"health", "queue", "resolve_interval", "slow_start", "tls"})
        CHECK_FALSE(shown.contains(key));

    config::Upstream& upstream = config.upstreams[0];
    upstream.endpoints[0].weight = 3;
    upstream.endpoints[0].max_requests = 9;
    upstream.load.how = config::LoadBalance::How::hash;
    upstream.load.ejection.reset();
    upstream.load.health.emplace().path = "/up";
    shown = config_json(config, {})["upstreams"]["shop"];
    CHECK(
        shown["endpoints"][0] ==
        Json{{"address", "127.0.0.1:9000"}, {"weight", 3}, {"max_requests", 9}});
    CHECK(shown["queue"] == Json{{"max_waiting", 100}, {"max_wait", "1s"}});
    CHECK(shown["hash_key"] == "client_ip");
    CHECK(shown["ejection"] == "off");
    CHECK(shown["health"]["path"] == "/up");
    CHECK(shown["health"]["expect"] == Json{"200-299"});
}

TEST_CASE("a route shows which protocols its clients may switch to") {
    config::Config config = example();
    CHECK(config_json(config, {})["routes"][0]["upgrade"] == Json{"websocket"});
    config.routes[0].upgrade.clear();
    CHECK(config_json(config, {})["routes"][0]["upgrade"] == "off");
}

TEST_CASE("a limit shows what applies to its kind, an inline limit where it is used") {
    const Json shown = config_json(example(), {});

    CHECK(
        shown["limits"] == Json{
                               {"per_client",
                                {{"requests", 100},
                                 {"per", "60s"},
                                 {"algorithm", "fixed_window"},
                                 {"anchor", "first_request"},
                                 {"pace", false},
                                 {"enforce", true},
                                 {"cost", 1},
                                 {"key", "client_ip"},
                                 {"missing_key", "share"},
                                 {"max_keys", 1'000'000},
                                 {"status", 429}}}});
    CHECK(
        shown["routes"][0]["limits"][1] == Json{
                                               {"name", "all.2"},
                                               {"concurrent", 3},
                                               {"ws_holds_slot", true},
                                               {"enforce", true},
                                               {"cost", 1},
                                               {"status", 429}});
}

TEST_CASE("what a limit has of its own for refusals is shown") {
    config::Config config = example();
    config.limits[0].status = 503;
    config.limits[0].body = config::OwnBody{"text/html", "<p>later"};
    config.limits[0].retry_after_jitter = 5s;
    config.limits[0].headers = config::Headers::Fields::both;

    const Json limit = config_json(config, {})["limits"]["per_client"];

    CHECK(limit["status"] == 503);
    CHECK(limit["body"] == Json{{"content_type", "text/html"}, {"text", "<p>later"}});
    CHECK(limit["retry_after_jitter"] == "5s");
    CHECK(limit["headers"] == "both");
}

TEST_CASE("the fields that tell of limits are shown for all and for each route") {
    config::Config config = example();
    using Headers = config::Headers;
    config.routes[0].headers = {
        Headers::Fields::legacy, Headers::Prefix::ratelimit, Headers::Reset::epoch};

    const Json shown = config_json(config, {});

    CHECK(
        shown["headers"] ==
        Json{{"fields", "off"}, {"legacy_prefix", "X-RateLimit"}, {"legacy_reset", "delta"}});
    CHECK(
        shown["routes"][0]["headers"] ==
        Json{{"fields", "legacy"}, {"legacy_prefix", "RateLimit"}, {"legacy_reset", "epoch"}});
}

TEST_CASE("a route names its upstream and its limits") {
    const Json route = config_json(example(), {})["routes"][0];

    CHECK(route["upstream"] == "shop");
    CHECK(route["limits"][0] == "per_client");
    CHECK(limit_names_json(example(), example().routes[0]) == Json::array({"per_client", "all.2"}));
    CHECK(route["match"] == Json{{"host", "*"}, {"path", "/"}, {"methods", Json::array({"GET"})}});
}

TEST_CASE("an exact path is shown as such") {
    config::Match match;
    match.path = "/a";
    match.kind = config::Match::Path::exact;

    CHECK(match_json(match) == Json{{"host", "*"}, {"path_exact", "/a"}});
}

TEST_CASE("milliseconds are whole where they can be") {
    CHECK(ms_json(1s).dump() == "1000");
    CHECK(ms_json(1500us).dump() == "1.5");
}

TEST_CASE("the state that is in force is shown, whatever the file says now") {
    config::Config config = example();
    config.state = config::State{"/other", false};

    CHECK_FALSE(config_json(config, {}).contains("state"));
    CHECK(
        config_json(config, {{}, 1, false, config::State{"/state.db", true}})["state"] ==
        Json{{"file", "/state.db"}, {"on_start", "closed"}});
    CHECK(
        config_json(config, {{}, 1, false, config::State{"", true}})["state"] ==
        Json{{"on_start", "closed"}});
}

TEST_CASE("locks are shown apart from limits, with what permits say of them") {
    config::Config config = example();
    config.permits.emplace().address = address("127.0.0.1:2");
    config::Limit lock;
    lock.name = "lock:jobs";
    lock.kind = config::Limit::Kind::cap;
    lock.quota = 3;
    lock.lock.emplace();
    config.limits.push_back(lock);
    config.routes[0].limits.push_back(2);
    Json shown = config_json(config, {});

    CHECK(shown["locks"] == Json{{"jobs", {{"max", 3}, {"max_waiting", 10'000}, {"status", 429}}}});
    CHECK_FALSE(shown["limits"].contains("lock:jobs"));
    CHECK(shown["routes"][0]["limits"][2] == Json{{"lock", "jobs"}});
    CHECK_FALSE(shown["routes"][0].contains("require_fence"));
    CHECK(
        shown["permits"] == Json{
                                {"address", "127.0.0.1:2"},
                                {"hosts", Json::array()},
                                {"http", {"http/1.1"}},
                                {"h2c", false},
                                {"dynamic_limits", 0},
                                {"dynamic_locks", 10'000},
                                {"max_ttl", "60s"}});

    config.limits[2].wait = config::Limit::Wait{};
    config.limits[2].wait->max_waiting = 7;
    config.limits[2].lock->max_waiting = 7;
    config.permits->start_up_grace = 0ms;
    config.routes[0].require_fence = 2;
    shown = config_json(config, {});
    CHECK(shown["locks"]["jobs"]["when_exceeded"] == "wait");
    CHECK(shown["locks"]["jobs"]["max_waiting"] == 7);
    CHECK(shown["permits"]["start_up_grace"] == "0s");
    CHECK(shown["routes"][0]["require_fence"] == "jobs");
    CHECK(limit_settings_json(config.limits[2])["lock"] == "jobs");
}
