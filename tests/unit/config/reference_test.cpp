// The tables of keys: each key is read, shown by default as it is, and in the documentation.
#include "config/fields/reference.hpp"
#include "config/fields/restart.hpp"
#include "config/fields/tables.hpp"
#include "config_support.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

namespace stint::config {

namespace {

std::string document(std::string_view name) {
    std::ifstream in{std::string{STINT_DOCS "/"}.append(name)};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// A map of a section, whose text has "@" where its keys are.
struct TestPlace {
    std::string_view path;    // as of a section of the reference
    std::string_view in_file; // as mistakes have it
    std::string_view yaml;
    std::vector<std::string_view> beside{}; // keys without which others are not read
};

const std::vector<TestPlace>& places() {
    static const std::vector<TestPlace> all{
        {"", "", "@"},
        {"listeners[]", "listeners[0].", "listeners: [{@}]", {"address: 127.0.0.1:0"}},
        {"listeners[].tls", "listeners[0].tls.", "listeners: [{tls: {@}}]"},
        {"listeners[].tls.certificates[]", "listeners[0].tls.certificates[0].",
         "listeners: [{tls: {certificates: [{@}]}}]"},
        {"admin", "admin.", "admin: {@}", {"address: 127.0.0.1:0"}},
        {"permits", "permits.", "permits: {@}", {"address: 127.0.0.1:0"}},
        {"state", "state.", "state: {@}"},
        {"timeouts", "timeouts.", "timeouts: {@}"},
        {"min_rate", "min_rate.", "min_rate: {@}"},
        {"access_log", "access_log.", "access_log: {@}"},
        {"log", "log.", "log: {@}"},
        {"headers", "headers.", "headers: {@}"},
        {"upstreams.NAME", "upstreams.x.", "upstreams: {x: {@}}", {"balance: hash"}},
        {"upstreams.NAME.endpoints[]",
         "upstreams.x.endpoints[0].",
         "upstreams: {x: {endpoints: [{@}]}}",
         {"address: 127.0.0.1:1"}},
        {"upstreams.NAME.tls", "upstreams.x.tls.", "upstreams: {x: {tls: {@}}}"},
        {"upstreams.NAME.timeouts", "upstreams.x.timeouts.", "upstreams: {x: {timeouts: {@}}}"},
        {"upstreams.NAME.cooldown",
         "upstreams.x.cooldown.",
         "upstreams: {x: {cooldown: {@}}}",
         {"scope: key", "when_paused: wait"}},
        {"upstreams.NAME.retry", "upstreams.x.retry.", "upstreams: {x: {retry: {@}}}"},
        {"upstreams.NAME.ejection", "upstreams.x.ejection.", "upstreams: {x: {ejection: {@}}}"},
        {"upstreams.NAME.health", "upstreams.x.health.", "upstreams: {x: {health: {@}}}"},
        {"upstreams.NAME.queue", "upstreams.x.queue.", "upstreams: {x: {queue: {@}}}"},
        {"upstreams.NAME.request", "upstreams.x.request.", "upstreams: {x: {request: {@}}}"},
        {"limits.NAME",
         "routes[0].limits[0].",
         "routes: [{limits: [{@}]}]",
         {"requests: 9", "per: day", "key: client_ip", "when_exceeded: wait",
          "retry_after: reserve"}},
        {"limits.NAME.count_when", "limits.x.count_when.",
         "limits: {x: {requests: 1, count_when: {@}}}"},
        {"limits.NAME.overrides.KEY",
         "limits.x.overrides.k.",
         "limits: {x: {key: path, requests: 9, per: 1s, overrides: {k: {@}}}}",
         {"requests: 1"}},
        {"limits.NAME.body", "limits.x.body.", "limits: {x: {body: {@}}}"},
        {"locks.NAME", "locks.x.", "locks: {x: {@}}", {"when_exceeded: wait"}},
        {"routes[]", "routes[0].", "routes: [{@}]"},
        {"routes[].match", "routes[0].match.", "routes: [{match: {@}}]"},
        {"routes[].limits[]", "routes[0].limits[0].", "routes: [{limits: [{@}]}]"},
        {"routes[].respond", "routes[0].respond.", "routes: [{respond: {@}}]"},
        {"routes[].redirect", "routes[0].redirect.", "routes: [{redirect: {@}}]"},
        {"routes[].rewrite",
         "routes[0].rewrite.",
         "routes: [{rewrite: {@}}]",
         {"regex: /", "to: /"}},
    };
    return all;
}

std::string with_keys(const TestPlace& place, std::string_view key, std::string_view value) {
    std::string keys = std::string{key}.append(": ").append(value);
    for (const std::string_view other : place.beside)
        if (!other.starts_with(std::string{key} + ":"))
            keys.append(place.path.empty() ? "\n" : ", ").append(other);
    std::string yaml{place.yaml};
    return yaml.replace(yaml.find('@'), 1, keys);
}

// Keys of overrides depend on the limit.
std::string for_kind(std::string yaml, std::string_view key) {
    const auto replace = [&](std::string_view from, std::string_view to) {
        if (const std::size_t at = yaml.find(from); at != std::string::npos)
            yaml.replace(at, from.size(), to);
    };
    if (key == "burst") {
        replace("requests: 9, per: 1s", "requests: 9, per: 1s, algorithm: token_bucket");
        replace("requests: 9, per: day", "requests: 9, per: 1s, algorithm: token_bucket");
    }
    if (key == "concurrent") {
        replace("requests: 9, per: 1s", "concurrent: 9");
        replace(", requests: 1", "");
        replace(", requests: 9, per: day", "");
    }
    if (key == "ws_holds_slot")
        replace("requests: 9, per: day", "concurrent: 9");
    return yaml;
}

// "key: default" of all keys of a section whose default is a value; without some.
std::string defaults(std::string_view path, std::initializer_list<std::string_view> without = {}) {
    std::string all;
    for (const SectionReference& section : reference()) {
        if (section.path != path)
            continue;
        for (const SectionReference::Key& key : section.keys) {
            if (!key.has_value || std::ranges::find(without, key.field.key) != without.end())
                continue;
            const bool list = key.otherwise.starts_with('[');
            all.append(path.empty() ? "\n" : ", ").append(key.field.key).append(": ");
            all.append(list ? key.otherwise : '"' + key.otherwise + '"');
        }
    }
    return all;
}

// A configuration with or without the keys that say the defaults.
std::string spelt(bool in_full) {
    const auto also = [&](std::string_view path,
                          std::initializer_list<std::string_view> without = {}) {
        return in_full ? defaults(path, without) : std::string{};
    };
    const auto map = [&](std::string_view key, std::string_view path) {
        const std::string keys = also(path);
        return keys.empty()
                   ? std::string{}
                   : std::string{"\n"}.append(key).append(": {").append(keys.substr(2)).append("}");
    };
    return "listeners: [{address: 127.0.0.1:0" + also("listeners[]") + "}]\n" +
           "admin: {address: 127.0.0.1:0" + also("admin") + "}\n" +
           "permits: {address: 127.0.0.1:0" + also("permits") + "}\n" +
           "upstreams: {x: {endpoints: [{address: 'localhost:1', max_requests: 5" +
           also("upstreams.NAME.endpoints[]") + "}]" + also("upstreams.NAME") +
           ", ejection: {failures: 5" + also("upstreams.NAME.ejection", {"failures"}) +
           "}, health: {path: /" + also("upstreams.NAME.health") + "}, queue: {max_wait: 1s" +
           also("upstreams.NAME.queue", {"max_wait"}) + "}, retry: {attempts: 2" +
           also("upstreams.NAME.retry", {"attempts"}) + "}, cooldown: {when_paused: wait" +
           also("upstreams.NAME.cooldown") + "}}}\n" +
           "limits:\n  w: {requests: 1, per: 1m, key: client_ip, when_exceeded: wait" +
           also("limits.NAME", {"ws_holds_slot"}) + "}\n  c: {concurrent: 1" +
           (in_full ? ", ws_holds_slot: true" : "") + "}\n" + "locks: {k: {when_exceeded: wait" +
           also("locks.NAME") + "}}\n" + "routes:\n  - {name: r, upstream: x, match: {path: /" +
           also("routes[].match", {"path"}) + "}" + also("routes[]") +
           "}\n  - {name: s, match: {path: /s}, respond: {body: x" + also("routes[].respond") +
           "}}" + also("") + map("timeouts", "timeouts") + map("min_rate", "min_rate") +
           map("access_log", "access_log") + map("log", "log") + map("headers", "headers") + "\n";
}

} // namespace

TEST_CASE("each key of the tables is read") {
    const std::vector<SectionReference> sections = reference();
    CHECK(sections.size() == places().size());
    for (const SectionReference& section : sections) {
        const auto place = std::ranges::find(places(), section.path, &TestPlace::path);
        INFO(section.path);
        REQUIRE(place != places().end());
        for (const SectionReference::Key& key : section.keys) {
            const std::string yaml =
                for_kind(with_keys(*place, key.field.key, "[[]]"), key.field.key);
            const auto loaded = load_text(yaml, "test.yaml");
            INFO(yaml);
            REQUIRE_FALSE(loaded.has_value());
            const std::string path = std::string{place->in_file}.append(key.field.key);
            const bool read = std::ranges::any_of(loaded.error(), [&](const ConfigError& mistake) {
                return mistake.message.starts_with(path) &&
                       mistake.message.find("unknown key") == std::string::npos;
            });
            INFO(text_of(loaded.error()));
            CHECK(read);
        }
    }
}

TEST_CASE("a configuration that says all defaults is the one that says none") {
    const Config in_short = loaded(spelt(false));
    const Config in_full = loaded(spelt(true));

    const Shown::Map all = shown(config_fields(), in_full, in_full);

    CHECK(spelt(true).size() > 2 * spelt(false).size());
    const Shown::Map short_ones = shown(config_fields(), in_short, in_short);
    REQUIRE(all.size() == short_ones.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO(all[i].name);
        CHECK(all[i] == short_ones[i]);
    }
}

TEST_CASE("no key stands twice in a table, and each is explained") {
    for (const SectionReference& section : reference()) {
        std::set<std::string_view> keys;
        for (const SectionReference::Key& key : section.keys) {
            INFO(section.path << ": " << key.field.key);
            CHECK(keys.insert(key.field.key).second);
            CHECK(key.field.about.ends_with('.'));
            CHECK(key.field.about.find('\n') == std::string_view::npos);
            CHECK_FALSE(type_text(key.field.type).empty());
            CHECK((key.field.required || !key.otherwise.empty()));
        }
    }
}

TEST_CASE(
    "the reference page is what the tables say (stint fields > docs/configuration-reference.md)") {
    CHECK(document("configuration-reference.md") == reference_page());
}

TEST_CASE("docs/configuration.md explains every key, and no other") {
    const std::string page = document("configuration.md");
    std::set<std::string, std::less<>> known;
    for (const SectionReference& section : reference())
        for (const SectionReference::Key& key : section.keys) {
            INFO(section.path << ": " << key.field.key);
            known.emplace(key.field.key);
            const std::string name{key.field.key};
            const bool found = std::ranges::any_of(
                std::array{"`" + name + "`", "`" + name + ":", "{" + name + ":", ", " + name + ":"},
                [&](const std::string& text) { return page.find(text) != std::string::npos; });
            CHECK(found);
        }
    // The first cells of tables that begin with "| key".
    std::istringstream lines{page};
    bool of_keys = false;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('|'))
            of_keys = false;
        else if (line.starts_with("| key |"))
            of_keys = true;
        if (!of_keys || !line.starts_with("| `"))
            continue;
        const std::string cell = line.substr(2, line.find(" |", 2) - 2);
        for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
            const std::size_t end = cell.find('`', at + 1);
            const std::string key = cell.substr(at + 1, end - at - 1);
            INFO(line);
            CHECK(known.contains(key.substr(0, key.find(':'))));
            at = end + 1;
        }
    }
}

TEST_CASE("bounds and words of types are told") {
    CHECK(
        type_text({.kind = FieldType::Kind::number, .low = 1, .high = 9, .zero = "off"}) ==
        "number, 1 to 9, or off");
    CHECK(
        type_text({.kind = FieldType::Kind::number, .low = 1, .high = 9, .zero = "0"}) ==
        "number, 0 to 9");
    CHECK(
        type_text({.kind = FieldType::Kind::size, .low = 1024, .high = 1U << 30U}) ==
        "size, 1KiB to 1GiB");
    CHECK(
        type_text({.kind = FieldType::Kind::duration, .low = 1'000, .high = 86'400'000}) ==
        "duration, 1s to 24h");
    CHECK(
        type_text(
            {.kind = FieldType::Kind::text, .is_list = true, .most_items = 64, .name = "names"}) ==
        "list: names, up to 64");
}

TEST_CASE("a reload says which of its changes need a restart") {
    const Config former = loaded(shop);
    using Keys = std::vector<std::string_view>;
    CHECK(need_restart(former, former) == Keys{});

    Config next = former;
    next.workers = 3;
    next.pin_workers = true;
    next.state = State{"/s.db", false};
    next.max_connections = 5;
    next.timeouts.idle = milliseconds{1};
    next.listeners[0].half_close_allowed = true;
    CHECK(need_restart(former, next) == Keys{"workers", "pin_workers", "state"});

    next = former;
    next.admin->hosts = {"stint"};
    CHECK(need_restart(former, next) == Keys{"admin"});
    next = former;
    next.admin.reset();
    CHECK(need_restart(former, next) == Keys{"admin"});
    next = former;
    next.admin->tls.emplace();
    CHECK(need_restart(former, next) == Keys{"admin"});
    Config other = next;
    other.admin->tls->only_1_3 = true; // applies to new connections
    CHECK(need_restart(next, other) == Keys{});
    next.state = State{"/s.db", false};
    other = next;
    other.state->closed_on_start = true;
    CHECK(need_restart(next, other) == Keys{"state"});
}

} // namespace stint::config
