// Environment variables in the values of a configuration.
#include "config_support.hpp"

#include <map>
#include <optional>

namespace stint::config {

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Environment environment_of(Variables variables) {
    return [variables = std::move(variables)](std::string_view name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional{found->second};
    };
}

// `line` is line 3.
Result<Config, ConfigErrors> with_variables(std::string_view line, Variables variables) {
    return load_text(
        std::string{base} + std::string{line} + "\nroutes: []\n", "test.yaml",
        environment_of(std::move(variables)));
}

// Returns every mistake in the line, one a line, without the file's name.
std::string faults_of(std::string_view line, Variables variables = {}) {
    const auto result = with_variables(line, std::move(variables));
    std::string all;
    for (const ConfigError& mistake : result ? ConfigErrors{} : result.error())
        all += mistake.text().substr(std::string_view{"test.yaml:"}.size()) + '\n';
    return all;
}

// Returns the body of a limit's refusals, which may be any text.
std::string filled(std::string_view text, Variables variables = {}) {
    const auto config = with_variables(
        "limits: {a: {concurrent: 1, body: '" + std::string{text} + "'}}", std::move(variables));
    REQUIRE_MESSAGE(bool{config}, text_of(config ? ConfigErrors{} : config.error()));
    return config->limits.at(0).body->text;
}

} // namespace

TEST_CASE("a variable becomes its value, alone or inside a text") {
    CHECK(filled("${A}", {{"A", "x"}}) == "x");
    CHECK(filled("1${A}2${_b9}3", {{"A", "x"}, {"_b9", "y"}}) == "1x2y3");
    CHECK(filled("${A}${A}", {{"A", "x"}}) == "xx");
    CHECK(filled("[${A}]", {{"A", ""}}) == "[]");
    CHECK(filled("${A}", {{"A", "${B}"}}) == "${B}"); // a value is not read for variables
}

TEST_CASE("a default stands for a variable that is not set or is empty") {
    CHECK(filled("${A:-d}") == "d");
    CHECK(filled("${A:-d}", {{"A", ""}}) == "d");
    CHECK(filled("${A:-d}", {{"A", "x"}}) == "x");
    CHECK(filled("[${A:-}]") == "[]");
    CHECK(filled("${A:-a:-b}") == "a:-b");
    CHECK(filled("${A:-{limit}}.") == "{limit}.");
    CHECK(filled("${A:-{limit}}.", {{"A", "x"}}) == "x.");
}

TEST_CASE("two dollars before a brace are a dollar, and a dollar without a brace is itself") {
    CHECK(filled("$${A}", {{"A", "x"}}) == "${A}");
    CHECK(filled("$${") == "${");
    CHECK(filled("$$${A}", {{"A", "x"}}) == "$${A}");
    CHECK(filled("$ $$ $A {limit} a$", {{"A", "x"}}) == "$ $$ $A {limit} a$");
}

TEST_CASE("numbers, durations, addresses and regular expressions may come from variables") {
    const auto config = load_text(
        "listeners:\n  - address: 127.0.0.1:${PORT}\n"
        "workers: ${WORKERS:-3}\n"
        "timeouts: {head: \"${HEAD}\"}\n"
        "upstreams: {shop: {endpoints: [\"${SHOP}:9000\"]}}\n"
        "routes:\n  - {name: r, upstream: shop, match: {path_regex: '^/${FOLDER}/.*$'}}\n",
        "test.yaml",
        environment_of(
            {{"PORT", "8081"}, {"HEAD", "4s"}, {"SHOP", "shop.example"}, {"FOLDER", "a"}}));

    REQUIRE_MESSAGE(bool{config}, text_of(config ? ConfigErrors{} : config.error()));
    CHECK(config->listeners.at(0).address.port == 8081);
    CHECK(config->workers.count == 3);
    CHECK(config->timeouts.head == std::chrono::seconds{4});
    CHECK(config->upstreams.at(0).endpoints.at(0).host == "shop.example");
}

TEST_CASE("placeholders in the value of a variable are placeholders") {
    CHECK(filled("${A}", {{"A", "wait {retry_after} s"}}) == "wait {retry_after} s");
    CHECK(
        faults_of("limits: {a: {concurrent: 1, body: '${A}'}}", {{"A", "{retry_aftr}"}}) ==
        "3:35: limits.a.body: {retry_aftr} is no placeholder; did you mean \"{retry_after}\"?; "
        "filled "
        "in from \"${A}\"\n");
}

TEST_CASE("a variable that is not set and has no default is a mistake") {
    CHECK(
        faults_of("workers: ${NONE}") ==
        "3:10: the environment variable \"NONE\" is not set; set it before the start, or write a "
        "default: ${NONE:-default}\n");
    CHECK(faults_of("workers: ${A}", {{"B", "1"}}).starts_with("3:10: the environment variable"));
    const auto none = load_text(std::string{base} + "workers: ${A}\nroutes: []\n", "test.yaml");
    CHECK(!bool{none});
}

TEST_CASE("a mistake in a value with variables tells both texts") {
    CHECK(
        faults_of("workers: ${N}0", {{"N", "-1"}}) ==
        "3:10: workers: \"-10\" is negative; expected a whole number from 1 to 1024, or auto; "
        "filled in from \"${N}0\"\n");
    CHECK(
        faults_of("workers: ${N:-}") ==
        "3:10: workers: \"\" is not a number; expected a whole number from 1 to 1024, or auto; "
        "filled in from \"${N:-}\"\n");
    CHECK(
        faults_of("timeouts: ${N}", {{"N", "{head: 1s}"}}) ==
        "3:11: timeouts: found the value \"{head: 1s}\"; expected a map such as {connect: 2s}; "
        "filled in from "
        "\"${N}\"\n");
}

TEST_CASE("what is no variable is a mistake that tells how variables are written") {
    constexpr std::string_view expected =
        "; expected ${NAME} or ${NAME:-default} with a name of A-Z a-z 0-9 _; for the characters "
        "${ themselves write $${\n";
    for (const std::string_view text : {"${}", "${1A}", "${A-B}", "${A:?x}", "${A B}", "${:-x}"}) {
        CAPTURE(text);
        CHECK(
            faults_of("workers: '" + std::string{text} + "'", {{"A", "1"}}) ==
            "3:10: \"" + std::string{text} + "\" is not a variable" + std::string{expected});
    }
    CHECK(
        faults_of("workers: '1${A:-{}'") ==
        "3:10: \"${A:-{}\" has no closing }" + std::string{expected});
    CHECK(
        faults_of("workers: '${A:-${B}}'") ==
        "3:10: \"${A:-${B}}\" has a variable in its default; expected a default without ${\n");
}

TEST_CASE("keys are not filled in") {
    CHECK(faults_of("${A}: 1", {{"A", "workers"}}).starts_with("3:1: \"${A}\": unknown key"));
}

TEST_CASE("an environment's value is plain text, and all together are at most 1 MiB") {
    for (const std::string_view value : {"a\x01", "\xFF", "a\rb", "\xEF\xBB\xBF"}) {
        CHECK(
            faults_of("workers: ${A}", {{"A", std::string{value}}}) ==
            "3:10: the environment variable \"A\" holds control characters or bytes that are not "
            "UTF-8; expected plain text\n");
    }
    CHECK(
        faults_of("access_log: {path: '${A}${A}'}", {{"A", std::string(600'000, 'x')}}) ==
        "3:20: with \"A\" the values of the environment variables in this file come to more than "
        "1 MiB; expected shorter values\n");
}

} // namespace stint::config
