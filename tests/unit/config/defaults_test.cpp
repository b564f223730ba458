// What a configuration may leave out, and what it may say besides.
#include "config_support.hpp"

#include <filesystem>
#include <fstream>

namespace stint::config {

using namespace std::chrono_literals;

namespace {

// A folder of its own, gone with the test.
class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "stint-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path write(const std::string& name, std::string_view text) const {
        std::ofstream{path_ / name, std::ios::binary} << text;
        return path_ / name;
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

std::string with(std::string_view lines) {
    return std::string{base} + std::string{lines};
}

} // namespace

TEST_CASE("what is left out has its default") {
    const Config config = loaded(with(no_routes));

    CHECK(config.workers.count == 0);
    CHECK_FALSE(config.workers.pin);
    CHECK_FALSE(config.admin);
    CHECK(config.timeouts.response == 60s);
    CHECK(config.timeouts.tunnel_idle == 10min);
    CHECK(config.load.max_connections == 10'000);
    CHECK(config.load.max_connections_per_client == 0);
    CHECK(config.heads.max_head == 16'384);
    CHECK(config.heads.max_target == 8'192);
    CHECK(config.heads.max_fields == 128);
    CHECK_FALSE(config.max_body);
    CHECK(config.paths.merge_slashes);
    CHECK_FALSE(config.paths.refuse_encoded_slashes);
    CHECK_FALSE(config.paths.routes_absolute_form);
    CHECK_FALSE(config.hop.forwarded);
    CHECK(!config.hop.via);
    CHECK(config.access_log.target == LogTarget{});
    CHECK(config.log_level == "info");
    CHECK_FALSE(config.watch);
    CHECK_FALSE(config.listeners[0].half_close_allowed);
    CHECK_FALSE(config.listeners[0].http2.offered);
    CHECK_FALSE(config.listeners[0].http2.h2c);
    CHECK(config.limits.empty());
}

TEST_CASE("a route without a match takes everything") {
    const Config config = loaded(with("routes: [{name: all, upstream: shop}]\n"));

    CHECK(config.routes[0].match.host == "*");
    CHECK(config.routes[0].match.path == "/");
    CHECK(config.routes[0].match.kind == Match::Path::prefix);
    CHECK(config.routes[0].match.methods.empty());
}

TEST_CASE("what is taken of requests arrives where it belongs") {
    const Config config = loaded(
        "max_target: 64KiB\nmax_fields: 1000\nmax_body: 1TiB\nmerge_slashes: false\n"
        "encoded_slashes: refuse\nabsolute_form: route\nforwarded: true\n" +
        with("routes:\n"
             "  - {name: a, upstream: shop}\n"
             "  - {name: b, upstream: shop, match: {path: /b}, max_body: 0}\n"
             "  - {name: c, upstream: shop, match: {path: /c}, max_body: off}\n"
             "  - {name: d, upstream: shop, match: {path: /d}, max_body: 10MiB}\n"));

    CHECK(config.heads.max_target == 65'536);
    CHECK(config.heads.max_fields == 1000);
    CHECK_FALSE(config.paths.merge_slashes);
    CHECK(config.paths.refuse_encoded_slashes);
    CHECK(config.paths.routes_absolute_form);
    CHECK(config.hop.forwarded);
    CHECK(config.max_body == std::uint64_t{1} << 40);
    CHECK(config.routes[0].max_body == std::uint64_t{1} << 40);
    CHECK(config.routes[1].max_body == 0);
    CHECK_FALSE(config.routes[2].max_body);
    CHECK(config.routes[3].max_body == 10 << 20);
}

TEST_CASE("every other setting arrives where it belongs") {
    const Config config = loaded(R"(workers: 2
pin_workers: true
listeners: [{address: "[::1]:0", half_close: allow}, {address: "[::1]:0"}, {address: unix:/run/s}]
admin: {address: 0.0.0.0:9901, read_only: true}
max_head: 65536
access_log: {path: logs/access.json, fields: [header:X-Api-Key]}
log: {level: debug}
watch: true
upstreams:
  shop: {endpoints: [a.example:1, "http://b.example", unix:/up], host: in.example, timeouts: {connect: 1s}}
limits:
  tick: {requests: 1, per: 0.5s, anchor: clock, key: client_ip, max_keys: 10}
routes:
  - name: r
    match: {host: "*.Example", path_exact: /a}
    upstream: shop
    timeouts: {response: 3s, body_idle: 4s, tunnel_idle: 5s}
    upgrade: [WebSocket, foo]
)");

    CHECK(config.workers.count == 2);
    CHECK(config.workers.pin);
    CHECK(config.listeners[0].half_close_allowed);
    CHECK(config.listeners[0].address.host == "::1");
    CHECK(config.listeners[2].address.kind == Address::Kind::unix_socket);
    CHECK(config.listeners[2].address.host == "/run/s");
    CHECK(config.admin->read_only);
    CHECK(config.heads.max_head == 65'536);
    const bool as_written =
        config.access_log.target == LogTarget{LogTarget::Kind::file, "logs/access.json"};
    CHECK(as_written);
    CHECK(config.access_log.rules.fields == std::vector<std::string>{"x-api-key"});
    CHECK(config.log_level == "debug");
    CHECK(config.watch);
    CHECK(config.upstreams[0].endpoints[1].port == 80);
    CHECK(config.upstreams[0].endpoints[2].is_unix);
    CHECK(config.upstreams[0].host == "in.example");
    CHECK(config.upstreams[0].timeouts.connect == 1s);
    CHECK_FALSE(config.upstreams[0].timeouts.response);
    CHECK(config.limits[0].per == 500ms);
    CHECK(config.limits[0].anchor == Limit::Anchor::clock);
    CHECK(config.limits[0].max_keys == 10);
    CHECK(config.routes[0].match.host == "*.example");
    CHECK(config.routes[0].match.kind == Match::Path::exact);
    CHECK(config.routes[0].timeouts.response == 3s);
    CHECK(config.routes[0].timeouts.body_idle == 4s);
    CHECK(config.routes[0].timeouts.tunnel_idle == 5s);
    CHECK(config.routes[0].upgrade == std::vector<std::string>{"websocket", "foo"});
}

TEST_CASE("a limit refuses unless it lets wait, for two seconds and by client address") {
    const Config config = loaded(with("limits:\n"
                                      "  a: {concurrent: 1}\n"
                                      "  b: {concurrent: 1, when_exceeded: wait}\n"
                                      "  c: {concurrent: 1, when_exceeded: wait, max_wait: 1.5s, "
                                      "max_waiting: 7, fair_by: 'header:X-Team'}\n"
                                      "routes: []\n"));

    CHECK_FALSE(config.limits[0].wait);
    REQUIRE(config.limits[1].wait);
    CHECK(config.limits[1].wait->max_wait == 2s);
    CHECK(config.limits[1].wait->max_waiting == 1000);
    CHECK(config.limits[1].wait->fair_by == std::vector<KeySource>{KeySource{}});
    REQUIRE(config.limits[2].wait);
    CHECK(config.limits[2].wait->max_wait == 1500ms);
    CHECK(config.limits[2].wait->max_waiting == 7);
    REQUIRE(config.limits[2].wait->fair_by.size() == 1);
    CHECK(config.limits[2].wait->fair_by.front().name == "x-team");
}

TEST_CASE("a limit gives no slots unless it says so, and then by client address") {
    const Config config =
        loaded(with("limits:\n"
                    "  a: {requests: 1, per: 1s}\n"
                    "  b: {requests: 1, per: 1s, retry_after: reserve}\n"
                    "  c: {requests: 1, per: 1s, retry_after: reserve, anchor: clock, "
                    "reserve_for: [host, 'header:X-Team']}\n"
                    "routes: []\n"));

    CHECK(config.limits[0].reserve_for.empty());
    CHECK(config.limits[1].reserve_for == std::vector<KeySource>{KeySource{}});
    REQUIRE(config.limits[2].reserve_for.size() == 2);
    CHECK(config.limits[2].reserve_for.back().name == "x-team");
}

TEST_CASE("an inline limit is called what it says, else after its route and place") {
    const Config config = loaded(with("routes: [{name: r, upstream: shop, limits: "
                                      "[{name: own, concurrent: 1}, {concurrent: 2}]}]\n"));

    CHECK(config.limits[0].name == "own");
    CHECK(config.limits[1].name == "r.2");
}

TEST_CASE("routes that differ in one thing do not compete") {
    const Config config = loaded(with(R"(routes:
  - {name: prefix, upstream: shop, match: {path: /a}}
  - {name: whole, upstream: shop, match: {path_exact: /a}}
  - {name: below, upstream: shop, match: {path: /a/}}
  - {name: get, upstream: shop, match: {path: /a, methods: [GET]}}
  - {name: post, upstream: shop, match: {path: /a, methods: [POST]}}
  - {name: host, upstream: shop, match: {path: /a, host: shop.example}}
)"));

    CHECK(config.routes.size() == 6);
}

TEST_CASE("relative paths begin at the configuration's folder") {
    const Folder folder;
    folder.write("token", "secret\n");
    const auto file = folder.write(
        "stint.yaml", with("routes: []\nadmin: {address: 0.0.0.0:1, token_file: token}\n"
                           "access_log: {path: access.json}\n"));

    const auto result = load_file(file);

    REQUIRE(result.has_value());
    CHECK(result->admin->token_file == (folder.path() / "token").string());
    CHECK(result->access_log.target.path == (folder.path() / "access.json").string());
}

TEST_CASE("a token for reading does not go without one for changes") {
    const Folder folder;
    folder.write("read", "r\n");
    folder.write("change", "c\n");
    const auto message_for = [&](const std::string& members) {
        const auto file = folder.write(
            "stint.yaml", with("routes: []\nadmin: {address: 127.0.0.1:1, " + members + "}\n"));
        const auto result = load_file(file);
        return result ? std::string{} : text_of(result.error());
    };

    CHECK(
        message_for("read_token_file: read")
            .find(":4:48: admin.read_token_file: reading needs a token, and changes need none") !=
        std::string::npos);
    CHECK(message_for("read_token_file: read, token_file: change").empty());
    CHECK(message_for("read_token_file: read, read_only: true").empty());
}

TEST_CASE("a token file must hold a token") {
    const Folder folder;
    const auto message_for = [&](const std::string& token_file) {
        const auto file = folder.write(
            "stint.yaml",
            with("routes: []\nadmin: {address: 127.0.0.1:1, token_file: " + token_file + "}\n"));
        const auto result = load_file(file);
        return result ? std::string{} : text_of(result.error());
    };
    folder.write("empty", " \n");

    CHECK(message_for("none").find(":4:43: admin.token_file: ") != std::string::npos);
    CHECK(message_for("none").find("does not exist") != std::string::npos);
    CHECK(message_for("empty").find("is empty") != std::string::npos);
    CHECK(message_for(".").find("is not a regular file") != std::string::npos);
}

TEST_CASE("a file that cannot be read is one mistake at its beginning") {
    const auto missing = load_file("/nonexistent/stint.yaml");
    const auto folder = load_file("/");

    REQUIRE_FALSE(missing.has_value());
    CHECK(
        text_of(missing.error()) ==
        "/nonexistent/stint.yaml:1:1: cannot be read: No such file or directory\n");
    REQUIRE_FALSE(folder.has_value());
    CHECK(text_of(folder.error()) == "/:1:1: cannot be read: Is a directory\n");
}

} // namespace stint::config
