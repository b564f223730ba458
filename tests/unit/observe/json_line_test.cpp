#include "observe/access_log.hpp"
#include "observe/json_line.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::observe;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string replaced = "\xEF\xBF\xBD";

std::string through_json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return json::parse(out).get<std::string>();
}

std::string rfc3339(WallTime time) {
    std::string out;
    append_rfc3339(out, time);
    return out;
}

json line_of(const AccessRecord& record) {
    std::string line;
    format(line, record);
    REQUIRE(line.find('\n') == line.size() - 1);
    return json::parse(line);
}

std::vector<std::string> names_of(const json& object) {
    std::vector<std::string> names;
    for (const auto& item : object.items())
        names.push_back(item.key());
    return names;
}

std::string utf8(char32_t point) {
    const auto tail = [point](int shift) {
        return static_cast<char>(0x80U | ((point >> shift) & 0x3fU));
    };
    if (point < 0x800)
        return {static_cast<char>(0xc0U | (point >> 6U)), tail(0)};
    if (point < 0x10000)
        return {static_cast<char>(0xe0U | (point >> 12U)), tail(6), tail(0)};
    return {static_cast<char>(0xf0U | (point >> 18U)), tail(12), tail(6), tail(0)};
}

} // namespace

TEST_CASE("every byte at every place of a text survives or is replaced") {
    for (int byte = 0; byte < 256; ++byte)
        for (std::size_t at = 0; at < 19; ++at) {
            std::string text(19, 'a');
            text[at] = static_cast<char>(byte);

            std::string expected = text;
            if (byte >= 0x80)
                expected.replace(at, 1, replaced);

            CAPTURE(byte);
            CAPTURE(at);
            CHECK(through_json(text) == expected);
        }
}

TEST_CASE("every character of Unicode is logged as it came") {
    std::string text;
    for (char32_t point = 0x80; point <= 0x10ffff; ++point)
        if (point < 0xd800 || point > 0xdfff)
            text += utf8(point);

    CHECK(through_json(text) == text);
}

TEST_CASE("a character that makes a line look otherwise than it is is escaped") {
    std::string text;
    for (char32_t point = 0x80; point <= 0xffff; ++point)
        if (point < 0xd800 || point > 0xdfff)
            text += utf8(point);
    std::string out;
    append_json_string(out, text);

    CHECK(json::parse(out).get<std::string>() == text);
    CHECK(out.find("\\u0080") != std::string::npos);
    for (const auto& [first, last] : std::vector<std::pair<char32_t, char32_t>>{
             {0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}})
        for (char32_t point = first; point <= last; ++point)
            CHECK(out.find(utf8(point)) == std::string::npos);
    const auto escapes = std::count(out.begin(), out.end(), '\\');
    CHECK(escapes == 32 + 1 + 2 + 7 + 4); // and no others
}

TEST_CASE("each maximal part of an ill-formed sequence becomes one replacement character") {
    struct Row {
        std::string bytes;
        int replacements;
    };
    const std::array rows = {
        Row{"\x80", 1},             // a continuation alone
        Row{"\xC0\xAF", 2},         // overlong
        Row{"\xE0\x80\x80", 3},     // overlong
        Row{"\xED\xA0\x80", 3},     // a surrogate
        Row{"\xF4\x90\x80\x80", 4}, // beyond U+10FFFF
        Row{"\xF5\x80", 2},         // no such lead
        Row{"\xE2\x82", 1},         // cut short
        Row{"\xF0\x9F\x98", 1},     // cut short
        Row{"\xFF\xFE", 2},
    };
    for (const Row& row : rows)
        for (const std::string after : {"", "z", "\""}) {
            std::string expected;
            for (int i = 0; i < row.replacements; ++i)
                expected += replaced;
            CHECK(through_json(row.bytes + after) == expected + after);
        }
}

TEST_CASE("random bytes always make valid JSON") {
    std::mt19937 random{20240501};
    for (int round = 0; round < 20'000; ++round) {
        std::string text(random() % 24, '\0');
        for (char& c : text)
            c = static_cast<char>(random());
        std::string out;
        append_json_string(out, text);
        REQUIRE(json::accept(out));
        REQUIRE(out.find_first_of("\n\r\x7f") == std::string::npos);
    }
}

TEST_CASE("a time is RFC 3339 in UTC with milliseconds rounded down") {
    CHECK(rfc3339(WallTime{}) == "1970-01-01T00:00:00.000Z");
    CHECK(rfc3339(WallTime{951782399s + 999'999'999ns}) == "2000-02-28T23:59:59.999Z");
    CHECK(rfc3339(WallTime{951782400s}) == "2000-02-29T00:00:00.000Z");
    CHECK(rfc3339(WallTime{951782400s + 7ms}) == "2000-02-29T00:00:00.007Z");
    CHECK(rfc3339(WallTime{-1ms}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a full record becomes a line with every member") {
    const std::array fields = {LoggedField{"X-Api-Key", "k\"1"}, LoggedField{"X-Empty", ""}};
    AccessRecord record;
    record.time = WallTime{1714550950s + 123ms};
    record.request_id = "id-1";
    record.client = "192.0.2.1";
    record.host = "shop.example";
    record.route = "product";
    record.method = "GET";
    record.path = "/a\\b";
    record.limit = "per_client";
    record.upstream = "10.0.0.1:9000";
    record.upstream_error = "10.0.0.1:9000 broke off";
    record.status = 429;
    record.outcome = Outcome::refused;
    record.bytes_in = 18'446'744'073'709'551'615U;
    record.bytes_out = 321;
    record.duration = 1'500'999ns;
    record.attempts = 2;
    record.upstream_time = 42us;
    record.fields = fields;

    const json expected = {
        {"time", "2024-05-01T08:09:10.123Z"},
        {"request_id", "id-1"},
        {"client", "192.0.2.1"},
        {"host", "shop.example"},
        {"route", "product"},
        {"method", "GET"},
        {"path", "/a\\b"},
        {"status", 429},
        {"decision", "refused"},
        {"limit", "per_client"},
        {"bytes_in", 18'446'744'073'709'551'615U},
        {"bytes_out", 321},
        {"duration_ms", 1.5},
        {"attempts", 2},
        {"upstream", "10.0.0.1:9000"},
        {"upstream_error", "10.0.0.1:9000 broke off"},
        {"upstream_ms", 0.042},
        {"fields", {{"X-Api-Key", "k\"1"}}},
    };
    CHECK(line_of(record) == expected);
}

TEST_CASE("members without a value are left out") {
    const std::array fields = {LoggedField{"X-Api-Key", ""}};
    AccessRecord record;
    record.fields = fields;

    const std::vector<std::string> always = {
        "bytes_in", "bytes_out", "decision", "duration_ms", "time"};
    CHECK(names_of(line_of(record)) == always);
}

TEST_CASE("hostile texts in every member leave the line readable") {
    const std::string nasty = std::string{"\"},\n{\\\0\x1f\x7f\xff", 10} + "é";
    const std::array fields = {LoggedField{nasty, nasty}};
    AccessRecord record;
    record.request_id = record.client = record.host = record.route = nasty;
    record.method = record.path = record.limit = record.upstream = nasty;
    record.upstream_error = nasty;
    record.fields = fields;

    const json line = line_of(record);

    const std::string seen = std::string{"\"},\n{\\\0\x1f\x7f", 9} + replaced + "é";
    CHECK(line.at("path") == seen);
    CHECK(line.at("fields").at(seen) == seen);
}

TEST_CASE("a clock that stepped back shows no negative duration") {
    AccessRecord record;
    record.duration = -5ms;

    CHECK(line_of(record).at("duration_ms") == 0.0);
}

TEST_CASE("each outcome has a text of its own") {
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < outcome_count; ++i)
        texts.push_back(to_text(static_cast<Outcome>(i)));

    const std::vector<std::string_view> expected = {
        "forwarded",       "refused",      "rejected",    "no_route",
        "upstream_failed", "cooling_down", "client_gone", "responded"};
    CHECK(texts == expected);
}
