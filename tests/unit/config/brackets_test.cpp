// Open brackets and quotes, as the explanations of syntax errors need them.
#include "config/yaml/brackets.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace stint::config {

namespace {

// Returns the brackets that are open at the end, outermost first.
std::string open_in(std::string_view text) {
    std::string open;
    for (const Bracket& bracket : find_brackets(text, text.size()).open_at_end)
        open += bracket.character;
    return open;
}

} // namespace

TEST_CASE("brackets open and close, and the innermost is the last") {
    CHECK(open_in("a: [1, {b: 2}]\n") == "");
    CHECK(open_in("a: [1, {b: 2]\n") == "[{");
    CHECK(open_in("- [a\n- {b\n") == "[{");
    CHECK(find_brackets("a: [{}, {", 4).open_at_stop.size() == 1);
}

TEST_CASE("brackets in comments, quotes, plain texts and blocks of text are none") {
    CHECK(open_in("# {\na: b # [\n") == "");
    CHECK(open_in("a: \"{\"\nb: '['\nc: ['{', \"\\\"[\", 'it''s {']\n") == "");
    CHECK(open_in("a: ^/b[0-9\nc: d#{\n") == "");
    CHECK(open_in("body: it's {\nb: don't [\n") == "");
    CHECK(open_in("a:\n  body: |\n    { [\n\n    \"\n  b: {\n") == "{");
}

TEST_CASE("the first closing bracket that closes nothing, or another, is found") {
    const Brackets other = find_brackets("a: [1}\n", 0);
    REQUIRE(other.wrong.has_value());
    CHECK(other.wrong->at == 5);
    REQUIRE(other.opened.has_value());
    CHECK(other.opened->at == 3);

    const Brackets none = find_brackets("a: {}}\n", 0);
    REQUIRE(none.wrong.has_value());
    CHECK(none.wrong->at == 5);
    CHECK(!none.opened.has_value());

    CHECK(!find_brackets("a: b]\n", 0).wrong.has_value());
}

TEST_CASE("the last text in quotes before the stop is found") {
    const Brackets found = find_brackets("a: \"b\nc\" d 'e'", 9);
    CHECK(found.quote_begin == 3);
    CHECK(found.quote_end == 8);
    CHECK(find_brackets("a: b", 4).quote_end == 0);
}

TEST_CASE("quotes end at a quote that is neither doubled nor escaped") {
    CHECK(end_of_quotes("'a''b' c", 0) == 6);
    CHECK(end_of_quotes(R"("a\"b" c)", 0) == 6);
    CHECK(end_of_quotes(R"("a\\" c)", 0) == 5);
    CHECK(end_of_quotes("'a''", 0) == std::string_view::npos);
    CHECK(end_of_quotes("\"a\\", 0) == std::string_view::npos);
    CHECK(end_of_quotes("'", 0) == std::string_view::npos);
}

} // namespace stint::config
