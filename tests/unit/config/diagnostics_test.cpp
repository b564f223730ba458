#include "config/yaml/diagnostics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 4> words{"host", "path", "path_exact", "methods"};

} // namespace

TEST_CASE("the nearest word is what was probably meant") {
    CHECK(nearest("hots", words) == "host");  // swapped
    CHECK(nearest("hst", words) == "host");   // left out
    CHECK(nearest("hosst", words) == "host"); // too many
    CHECK(nearest("hoxt", words) == "host");  // another
    CHECK(nearest("HOST", words) == "host");  // the other case
    CHECK(nearest("mehtosd", words) == "methods");
    CHECK(nearest("ptah-exact", words) == "path_exact");
}

TEST_CASE("a mistake is one line that any terminal can show, whatever the file's names are") {
    Diagnostics report{"a.yaml"};
    report.add({1, 2}, "\"x\" is not a limit; expected \x1b[31m or a\tb\n");

    const ConfigErrors mistakes = std::move(report).take();

    CHECK(mistakes.front().message == R"("x" is not a limit; expected \x1b[31m or a\x09b\x0a)");
}

TEST_CASE("a word far from all is near none") {
    CHECK(nearest("ghosts", words).empty());
    CHECK(nearest("upstream", words).empty());
    CHECK(nearest("", words).empty());
    CHECK(nearest(std::string(100'000, 'p'), words).empty());
    CHECK(nearest("x", {}).empty());
}

TEST_CASE("quotes show what a terminal cannot") {
    CHECK(in_quotes("a b") == "\"a b\"");
    CHECK(in_quotes("\x1B[1m\n") == "\"\\x1b[1m\\x0a\"");
    CHECK(in_quotes(std::string(81, 'x')) == '"' + std::string(80, 'x') + "...\"");
}

TEST_CASE("quotes do not cut a character in two") {
    const std::string cut = in_quotes(std::string(79, 'x') + "\xC3\xA9");
    const std::string whole = in_quotes(std::string(78, 'x') + "\xC3\xA9y");

    CHECK(cut == '"' + std::string(79, 'x') + "...\"");
    CHECK(whole == '"' + std::string(78, 'x') + "\xC3\xA9...\"");
}

TEST_CASE("mistakes come in the order of the file, each once") {
    Diagnostics report{"f"};
    report.add({2, 1}, "c");
    report.add({1, 9}, "b");
    report.add({1, 2}, "a");
    report.add({1, 9}, "b");

    const ConfigErrors mistakes = std::move(report).take();

    REQUIRE(mistakes.size() == 3);
    CHECK(mistakes[0].text() == "f:1:2: a");
    CHECK(mistakes[1].text() == "f:1:9: b");
    CHECK(mistakes[2].text() == "f:2:1: c");
}

} // namespace stint::config
