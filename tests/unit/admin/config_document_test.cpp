// GET /config as a configuration: it can be loaded, and gives the same document again.
#include "admin/config_json.hpp"
#include "config/fields/reference.hpp"
#include "config/load.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::admin;
using test::TempFolder;

constexpr std::string_view one_upstream = "listeners: [{address: 127.0.0.1:0}]\n"
                                          "upstreams: {shop: {endpoints: [127.0.0.1:9000]}}\n";

std::optional<std::string> variable(std::string_view name) {
    return name == "UNSET" ? std::nullopt : std::optional{"filled in"};
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::string mistakes_in(const Result<config::Config, config::ConfigErrors>& loaded) {
    std::string all;
    if (!loaded)
        for (const config::ConfigError& mistake : loaded.error())
            all += mistake.text() + '\n';
    return all;
}

std::string printed(const config::Config& config) {
    return json_response(config_json(config)).body;
}

config::Config configured(
    std::string_view yaml,
    const std::filesystem::path& file = "/x.yaml",
    const config::Environment& environment = variable) {
    const auto loaded = config::load_text(yaml, file, environment);
    INFO(mistakes_in(loaded));
    REQUIRE(loaded.has_value());
    return *loaded;
}

// Checks that the document is a configuration with the same document, in another folder, too.
void check_fed_back(const config::Config& config) {
    const std::string document = printed(config);
    INFO(document);
    const auto again = config::load_text(document, "/elsewhere/saved.json", variable);
    INFO(mistakes_in(again));
    REQUIRE(again.has_value());
    CHECK(printed(*again) == document);
}

// A configuration with every key, none with its default in all places, as GET /config prints it.
std::string full_configuration(const TempFolder& folder) {
    for (const char* const name : {"a", "b", "c"})
        (void)folder.write(name, "a token");
    std::string text = content_of(STINT_FULL_CONFIGURATION);
    constexpr std::string_view place = "@FOLDER@";
    for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;)
        text.replace(at, place.size(), folder.path().string());
    return text;
}

// Returns the values of the document at the path of a section, such as upstreams.NAME.endpoints[].
std::vector<const Json*> at_path(const Json& document, std::string_view path) {
    std::vector<const Json*> found{&document};
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(part.size() + 1, path.size()));
        const bool is_list = part.ends_with("[]");
        const std::string name{part.substr(0, part.size() - (is_list ? 2 : 0))};
        std::vector<const Json*> next;
        for (const Json* const each : found) {
            if (!each->is_object())
                continue;
            if (name == "NAME" || name == "KEY")
                for (const Json& item : *each)
                    next.push_back(&item);
            else if (each->contains(name) && is_list)
                for (const Json& item : (*each)[name])
                    next.push_back(&item);
            else if (each->contains(name))
                next.push_back(&(*each)[name]);
        }
        found = std::move(next);
    }
    return found;
}

std::string plain_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// True if the document has the key in the section, and not only with its default.
bool is_set(
    const Json& document, std::string_view section, const config::SectionReference::Key& key) {
    return std::ranges::any_of(at_path(document, section), [&](const Json* map) {
        const std::string name{key.field.key};
        return map->is_object() && map->contains(name) &&
               !(key.has_value && plain_text((*map)[name]) == key.otherwise);
    });
}

// The YAML blocks of a page.
std::vector<std::string> blocks_of(const std::string& page) {
    constexpr std::string_view opening = "\n```yaml\n";
    std::vector<std::string> blocks;
    for (std::size_t at = 0; (at = page.find(opening, at)) != std::string::npos;) {
        at += opening.size();
        blocks.push_back(page.substr(at, page.find("\n```", at) + 1 - at));
    }
    return blocks;
}

// Adds what a configuration has at least.
std::string completed(std::string block) {
    if (block.find("listeners:") == std::string::npos)
        block += "listeners: [{address: 127.0.0.1:0}]\n";
    if (block.find("routes:") == std::string::npos)
        block += "routes: []\n";
    return block;
}

// What is printed of a value of set_headers.
Json printed_value(std::string_view written) {
    const Json document = config_json(configured(
        std::string{one_upstream} +
        "routes: [{name: r, upstream: shop, request: {set_headers: {X-A: '" + std::string{written} +
        "'}}}]\n"));
    return document["routes"][0]["request"]["set_headers"]["X-A"];
}

} // namespace

TEST_CASE("a configuration is printed as it is set, whatever its keys") {
    const TempFolder folder;
    const std::string text = full_configuration(folder);
    const config::Config config = configured(text);

    const Json document = config_json(config);

    const Json expected = Json::parse(text);
    for (const auto& [name, value] : expected.items()) {
        INFO(name);
        CHECK(document[name] == value);
    }
    CHECK(document == expected);
    check_fed_back(config);
}

TEST_CASE("the printed configuration has every key that there is") {
    const TempFolder folder;
    const Json document = config_json(configured(full_configuration(folder)));
    // A listener's own certificate is printed as the only one of its list. h2c and tls exclude each
    // other: of three kinds of listeners one has both.
    const std::set<std::string> printed_elsewhere{
        "listeners[].tls.certificate", "listeners[].tls.key", "listeners[].tls.ocsp_staple",
        "admin.h2c", "permits.h2c"};

    for (const config::SectionReference& section : config::reference())
        for (const config::SectionReference::Key& key : section.keys) {
            const std::string path =
                std::string{section.path}.append(section.path.empty() ? "" : ".") +
                std::string{key.field.key};
            INFO(path);
            const std::string_view place =
                path == "limits.NAME.name" ? "routes[].limits[]" : section.path;
            CHECK(is_set(document, place, key) != printed_elsewhere.contains(path));
        }
}

TEST_CASE("the samples and the examples of the documentation can be fed back") {
    std::size_t samples = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator{STINT_SAMPLES})
        if (file.path().extension() == ".yaml" &&
            file.path().parent_path().filename() != "kubernetes") { // manifests
            INFO(file.path().string());
            const auto unset = [](std::string_view) { return std::nullopt; };
            check_fed_back(configured(content_of(file.path()), file.path(), unset));
            ++samples;
        }
    CHECK(samples >= 6);

    std::size_t examples = 0;
    for (const std::string_view page : {"configuration.md", "locks.md", "permits.md"})
        for (const std::string& block :
             blocks_of(content_of(std::filesystem::path{STINT_DOCS} / page))) {
            INFO(page << ":\n" << block);
            const auto loaded = config::load_text(completed(block), "/x.yaml", variable);
            if (!loaded) // refers to what is in no block, or shows mistakes
                continue;
            ++examples;
            if (printed(*loaded).find("(hidden)") == std::string::npos)
                check_fed_back(*loaded);
        }
    CHECK(examples >= 11);
}

TEST_CASE("any text can be fed back") {
    config::Config config = configured(
        std::string{one_upstream} + "routes: [{name: r, respond: {status: 200, body: x}}]\n");
    for (const std::string_view text :
         {"${NAME}",
          "$${NAME}",
          "$$${",
          "${",
          "$",
          "{X}${{",
          " a ",
          "# no comment",
          "- a",
          "yes",
          "null",
          "~",
          "\"",
          "\\",
          "'",
          "a: b",
          "\t\r\n\b\f\v",
          "\x1B\x7F\x01",
          "\xC2\x85\xE2\x80\xA8\xF0\x9F\x90\x98",
          "\xEF\xBB\xBF"}) {
        INFO(text);
        config.routes[0].answer->body = text;
        const auto again = config::load_text(printed(config), "/saved.json");
        INFO(mistakes_in(again));
        REQUIRE(again.has_value());
        CHECK(again->routes[0].answer->body == text);
    }
}

TEST_CASE("a value of set_headers is printed only if it shows no secret") {
    for (const std::string_view shown :
         {"${TOKEN}", "Bearer ${TOKEN}", "Basic ${USER}${PASSWORD}", "Token {request_id}",
          "{client_ip}", "{host}{route}"})
        CHECK(printed_value(shown) == shown);
    for (const std::string_view hidden :
         {"s3cret", "Bearer s3cret", "Bearer ${TOKEN:-s3cret}", "s3cret ${TOKEN}", "${TOKEN}s3cret",
          "Bearer s3cret{host}", "$${TOKEN}", "$${TOKEN}${TOKEN}", "{host", "s3cret}"})
        CHECK(printed_value(hidden) == "(hidden)");
}

TEST_CASE("what responses get is printed, with its variables") {
    const config::Config config = configured(
        std::string{one_upstream} +
        "routes: [{name: r, upstream: shop, response: {set_headers: {X-A: 'public $${x', X-B: "
        "'b ${NAME:-c}'}}}]\n");

    CHECK(
        config_json(config)["routes"][0]["response"]["set_headers"] ==
        Json{{"X-A", "public $${x"}, {"X-B", "b ${NAME:-c}"}});
    check_fed_back(config);
}

TEST_CASE("a value that is not printed has to be filled in") {
    const config::Config config = configured(
        std::string{one_upstream} +
        "routes:\n"
        "  - {name: r, upstream: shop, request: {set_headers: {X-Key: s3cret}}}\n"
        "  - {name: s, match: {path: /s}, respond: {body: x, headers: {X-Key: (hidden)}}}\n"
        "  - {name: t, match: {path: /t}, upstream: shop, response: {set_headers: {X: "
        "(hidden)}}}\n");
    const std::string document = printed(config);
    CHECK(document.find("s3cret") == std::string::npos);

    const auto again = config::load_text(document, "/saved.json");

    REQUIRE_FALSE(again.has_value());
    REQUIRE(again.error().size() == 1);
    CHECK(
        again.error()[0].message ==
        "routes[0].request.set_headers.X-Key: \"(hidden)\" stands for a value that GET /config "
        "does not print; expected the value, or a variable such as ${NAME}");
}

TEST_CASE("paths are printed from the root directory on") {
    const std::string yaml = std::string{one_upstream} +
                             "routes: []\naccess_log: {path: ./logs/access.log}\n"
                             "state: ../state.db\n";
    const std::string here = std::filesystem::current_path().string();

    const Json relative = config_json(configured(yaml, "conf/x.yaml"));
    const Json absolute = config_json(configured(yaml, "/etc/stint/x.yaml"));

    CHECK(relative["access_log"]["path"] == here + "/conf/logs/access.log");
    CHECK(relative["state"]["file"] == here + "/conf/../state.db");
    CHECK(absolute["access_log"]["path"] == "/etc/stint/logs/access.log");
}

TEST_CASE("a setting that is taken over is printed only where it is set") {
    const std::string yaml = std::string{one_upstream} +
                             "max_body: 1KiB\nheaders: both\nipv4_prefix: 24\n"
                             "limits: {a: {requests: 5, per: 1s, key: client_ip}}\n"
                             "routes: [{name: r, upstream: shop, limits: [a], max_body: 1KiB}]\n";

    const Json document = config_json(configured(yaml));

    for (const char* const key : {"max_body", "headers", "timeouts", "cooldown", "retry"})
        CHECK_FALSE(document["routes"][0].contains(key));
    CHECK_FALSE(document["upstreams"]["shop"].contains("timeouts"));
    for (const char* const key : {"ipv4_prefix", "ipv6_prefix", "burst"})
        CHECK_FALSE(document["limits"]["a"].contains(key));
    check_fed_back(configured(yaml));
}
