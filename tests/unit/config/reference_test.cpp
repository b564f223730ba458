// The tables of keys: each key is read, shown by default as it is, and in the documentation.
#include "config/fields/reference.hpp"
#include "config/fields/restart.hpp"
#include "config/fields/tables.hpp"
#include "config_support.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
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
        {"listeners[]", "listeners[0].", "listeners: [{@}]", {"address: 127.0.0.1:0", "h2c: true"}},
        {"listeners[].http2", "listeners[0].http2.", "listeners: [{h2c: true, http2: {@}}]"},
        {"listeners[].tls", "listeners[0].tls.", "listeners: [{tls: {@}}]"},
        {"listeners[].tls.certificates[]", "listeners[0].tls.certificates[0].",
         "listeners: [{tls: {certificates: [{@}]}}]"},
        {"admin", "admin.", "admin: {@}", {"address: 127.0.0.1:0", "h2c: true"}},
        {"permits", "permits.", "permits: {@}", {"address: 127.0.0.1:0", "h2c: true"}},
        {"state", "state.", "state: {@}"},
        {"stores.NAME", "stores.x.", "stores: {x: {@}}", {"redis: '127.0.0.1:1'"}},
        {"stores.NAME.sentinel",
         "stores.x.sentinel.",
         "stores: {x: {sentinel: {@}}}",
         {"master: m", "servers: ['a:1']"}},
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
        {"limits.NAME.shared", "limits.x.shared.", "limits: {x: {shared: {@}}}"},
        {"limits.NAME.body", "limits.x.body.", "limits: {x: {body: {@}}}"},
        {"locks.NAME", "locks.x.", "locks: {x: {@}}", {"when_exceeded: wait"}},
        {"locks.NAME.shared", "locks.x.shared.", "locks: {x: {shared: {@}}}"},
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
           "stores: {m: {redis: '127.0.0.1:1'" + also("stores.NAME") + "}}\n" +
           "upstreams: {x: {endpoints: [{address: 'localhost:1', max_requests: 5" +
           also("upstreams.NAME.endpoints[]") + "}]" + also("upstreams.NAME") +
           ", ejection: {failures: 5" + also("upstreams.NAME.ejection", {"failures"}) +
           "}, health: {path: /" + also("upstreams.NAME.health") + "}, queue: {max_wait: 1s" +
           also("upstreams.NAME.queue", {"max_wait"}) + "}, retry: {attempts: 2" +
           also("upstreams.NAME.retry", {"attempts"}) + "}, cooldown: {when_paused: wait" +
           also("upstreams.NAME.cooldown") + "}}}\n" +
           "limits:\n  w: {requests: 1, per: 1m, key: client_ip, when_exceeded: wait, shared: "
           "{store: m" +
           also("limits.NAME.shared") + "}" + also("limits.NAME", {"ws_holds_slot"}) +
           "}\n  c: {concurrent: 1" + (in_full ? ", ws_holds_slot: true" : "") + "}\n" +
           "locks: {k: {when_exceeded: wait, shared: {store: m" + also("locks.NAME.shared") + "}" +
           also("locks.NAME") + "}}\n" + "routes:\n  - {name: r, upstream: x, match: {path: /" +
           also("routes[].match", {"path"}) + "}" + also("routes[]") +
           "}\n  - {name: s, match: {path: /s}, respond: {body: x" + also("routes[].respond") +
           "}}" + also("") + map("timeouts", "timeouts") + map("min_rate", "min_rate") +
           map("access_log", "access_log") + map("log", "log") + map("headers", "headers") + "\n";
}

// A text without quotes, and with the words of its links alone.
std::string plain(std::string_view text) {
    static const std::regex link{R"(\[([^\]]*)\]\([^)]*\))"};
    std::string words = std::regex_replace(std::string{text}, link, "$1");
    std::erase_if(words, [](char c) { return c == '`' || c == '"'; });
    return words;
}

std::string without_commas(const std::string& text) {
    static const std::regex comma{R"((\d),(\d{3}))"};
    return std::regex_replace(std::regex_replace(text, comma, "$1$2"), comma, "$1$2");
}

// True if the text has these words, and not as parts of longer ones.
bool has_words(const std::string& text, const std::string& words) {
    const auto is_part = [&](std::size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at)
        if ((at == 0 || !is_part(at - 1)) && !is_part(at + words.size()))
            return true;
    return false;
}

// Bounds that a text states: "1 to 1024", or the number of "at most 64" and "up to 64".
std::vector<std::string> bounds_in(const std::string& text) {
    static const std::regex bound{
        R"((\d+(?:ms|[KMGT]iB|[smhdB%])? to \d+(?:ms|[KMGT]iB|[smhdB%])?)|(?:at most|up to) (\d+(?: [KM]iB|ms|[smhdB%])?))",
        std::regex::icase};
    const std::string words = without_commas(plain(text));
    std::vector<std::string> bounds;
    for (std::sregex_iterator each{words.begin(), words.end(), bound}, end; each != end; ++each)
        bounds.push_back((*each)[1].matched ? (*each)[1] : (*each)[2]);
    return bounds;
}

// The cells of a Markdown table's line.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
        const std::size_t end = line.find('|', at);
        const std::string cell = line.substr(at, end - at);
        const std::size_t first = cell.find_first_not_of(' ');
        cells.push_back(
            first == std::string::npos
                ? ""
                : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
        at = end == std::string::npos ? line.size() : end + 1;
    }
    return cells;
}

// One of the items of a list such as "a, b"; all of a list of another size.
std::string item(const std::string& list, std::size_t place, std::size_t size) {
    if (size == 1)
        return list;
    std::size_t begin = 0;
    for (; place > 0; --place) {
        const std::size_t comma = list.find(", ", begin);
        if (comma == std::string::npos)
            return list;
        begin = comma + 2;
    }
    return list.substr(begin, list.find(", ", begin) - begin);
}

// A table of docs/configuration.md with the columns key and default.
struct KeyTable {
    struct Row {
        std::vector<std::string> keys;
        std::string otherwise;         // the default, plain
        bool refers_elsewhere = false; // to a table that has the default
        std::string description;
    };
    std::vector<Row> rows;
};

const std::vector<SectionReference>& known_sections() {
    static const std::vector<SectionReference> all = reference();
    return all;
}

const SectionReference::Key& key_of(std::string_view path, std::string_view name) {
    const auto section = std::ranges::find(known_sections(), path, &SectionReference::path);
    REQUIRE(section != known_sections().end());
    const auto key = std::ranges::find_if(
        section->keys, [&](const auto& each) { return each.field.key == name; });
    INFO(path << ": " << name);
    REQUIRE(key != section->keys.end());
    return *key;
}

std::string section_below(std::string_view path, std::string_view key) {
    return path.empty() ? std::string{key} : std::string{path}.append(".").append(key);
}

std::string description_of(const SectionReference::Key& key) {
    return type_text(key.field.type) + " " + std::string{key.field.about} + " " + key.otherwise +
           " ";
}

// Describes all keys of the section of that path; empty: there is no such section.
std::string description_of(std::string_view path) {
    std::string text;
    for (const SectionReference& section : known_sections())
        if (section.path == path)
            for (const SectionReference::Key& key : section.keys)
                text += description_of(key);
    return text;
}

// told: the default that the page has; for a map with a section (path) some of its keys' defaults.
void check_default(
    const SectionReference::Key& key, std::string_view path, const std::string& told) {
    if (told.starts_with('{')) {
        static const std::regex member{R"((\w+): ([^,}]+))"};
        for (std::sregex_iterator each{told.begin(), told.end(), member}, end; each != end; ++each)
            CHECK((*each)[2] == plain(key_of(path, (*each)[1].str()).otherwise));
    } else if (key.field.required || key.otherwise.starts_with("*required*")) {
        CHECK(told == "*required*");
    } else {
        CHECK(told == plain(key.otherwise));
    }
}

std::string one_line(const std::string& text) {
    static const std::regex space{R"(\s+)"};
    return std::regex_replace(text, space, " ");
}

std::vector<KeyTable> tables_with_defaults(const std::string& page) {
    std::vector<KeyTable> tables;
    std::istringstream lines{page};
    std::size_t column = 0; // of the default; 0: no such table
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> cells =
            line.starts_with('|') ? cells_of(line) : std::vector<std::string>{};
        if (cells.empty()) {
            column = 0;
        } else if (cells.front().starts_with("key")) {
            const auto found = std::ranges::find(cells, "default");
            column = found == cells.end() ? 0 : static_cast<std::size_t>(found - cells.begin());
            if (column > 0)
                tables.emplace_back();
        } else if (column > 0 && cells.front().starts_with('`')) {
            KeyTable::Row row;
            std::istringstream keys{plain(cells.front())};
            for (std::string key; std::getline(keys >> std::ws, key, ',');)
                row.keys.push_back(key);
            row.otherwise = plain(cells[column]);
            row.refers_elsewhere =
                cells[column].empty() || cells[column].find("](#") != std::string::npos;
            row.description = cells.back();
            tables.back().rows.push_back(std::move(row));
        }
    }
    return tables;
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

TEST_CASE("docs/configuration.md has the defaults and bounds of the tables") {
    // The sections of its tables with defaults, in the page's order.
    constexpr std::array sections{
        "",
        "listeners[]",
        "listeners[].http2",
        "listeners[].tls",
        "admin",
        "permits",
        "state",
        "stores.NAME",
        "stores.NAME.sentinel",
        "limits.NAME.shared",
        "timeouts",
        "min_rate",
        "access_log",
        "headers",
        "upstreams.NAME",
        "upstreams.NAME.tls",
        "upstreams.NAME.endpoints[]",
        "upstreams.NAME",
        "upstreams.NAME.health",
        "upstreams.NAME.retry",
        "upstreams.NAME.cooldown",
        "limits.NAME",
        "locks.NAME",
        "routes[]",
        "routes[].match",
        "routes[].respond",
        "routes[].redirect",
    };
    const std::string page = document("configuration.md");
    const std::vector<KeyTable> tables = tables_with_defaults(page);

    REQUIRE(tables.size() == sections.size());
    for (std::size_t i = 0; i < tables.size(); ++i)
        for (const KeyTable::Row& row : tables[i].rows) {
            std::string described;
            for (std::size_t place = 0; place < row.keys.size(); ++place) {
                INFO(sections[i] << ": " << row.keys[place]);
                const SectionReference::Key& key = key_of(sections[i], row.keys[place]);
                const std::string path = section_below(sections[i], row.keys[place]);
                described += description_of(key) + description_of(path);
                if (!row.refers_elsewhere)
                    check_default(key, path, item(row.otherwise, place, row.keys.size()));
            }
            for (const std::string& bound : bounds_in(row.description)) {
                INFO(sections[i] << ": " << row.keys.front() << ": " << bound);
                CHECK(has_words(without_commas(described), bound));
            }
        }
    CHECK(
        one_line(page).find("trusted_fields: " + key_of("", "trusted_fields").otherwise) !=
        std::string::npos);
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
    next.workers.count = 3;
    next.workers.pin = true;
    next.state = State{"/s.db", false};
    next.load.max_connections = 5;
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
