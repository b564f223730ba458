// Bytes that have no place in a configuration.
#include "config/values/text_check.hpp"
#include "config_support.hpp"

namespace stint::config {

namespace {

ConfigErrors mistakes_of(std::string_view bytes, std::string& text) {
    Diagnostics report{"t"};
    text = checked_text(bytes, report);
    return std::move(report).take();
}

} // namespace

TEST_CASE("bytes that are not UTF-8 are reported once a line and the rest is checked") {
    check_added(
        "# caf\xE9 \xE9\nworkers: 0\nroutes: [] # \xFF\n",
        {"3:6: byte 0xE9 is not valid UTF-8; save the file as UTF-8",
         "4:10: workers: \"0\" is zero", "5:14: byte 0xFF is not valid UTF-8"});
}

TEST_CASE("only well-formed UTF-8 is UTF-8") {
    const auto faults = [](std::string_view bytes) {
        std::string text;
        return mistakes_of(bytes, text).size();
    };

    CHECK(faults("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == 0);
    CHECK(faults("\xC0\xAF") == 1);         // overlong
    CHECK(faults("\xE0\x80\xAF") == 1);     // overlong
    CHECK(faults("\xED\xA0\x80") == 1);     // a surrogate
    CHECK(faults("\xF4\x90\x80\x80") == 1); // above U+10FFFF
    CHECK(faults("\xE2\x82") == 1);         // cut
    CHECK(faults("\x80") == 1);             // no beginning
}

TEST_CASE("a byte order mark is a mistake that moves no column") {
    check_mistakes(
        "\xEF\xBB\xBFworkers: 0\nlisteners: [{address: 1.1.1.1:1}]\nroutes: []\n",
        {"1:1: a byte order mark", "1:10: workers: \"0\" is zero"});
}

TEST_CASE("NUL and other control characters are mistakes") {
    using namespace std::string_view_literals;
    check_added(
        "routes: []\n# \0\n# \x04 \x1B\n# \x7F\n# a\rb\n"sv,
        {"4:3: a NUL byte", "5:3: control character 0x04", "6:3: control character 0x7F",
         "7:4: a carriage return without a line feed"});
}

TEST_CASE("lines may end in CRLF") {
    check_mistakes(
        "listeners: [{address: 1.1.1.1:1}]\r\nroutes: []\r\nworkers: 0\r\n",
        {"3:10: workers: \"0\" is zero"});
}

TEST_CASE("columns count characters") {
    check_added(
        "routes: []\ntimeouts: {\xC3\xA9\xE2\x82\xAC: 1s, idle: 0s}\n",
        {"4:12: timeouts.\xC3\xA9\xE2\x82\xAC: unknown key",
         "4:26: timeouts.idle: \"0s\" is zero"});
}

TEST_CASE("checked text keeps every place") {
    std::string text;

    const ConfigErrors mistakes = mistakes_of("a\xFF\xFE\nb", text);

    CHECK(text == "a__\nb");
    CHECK(mistakes.size() == 1);
}

} // namespace stint::config
