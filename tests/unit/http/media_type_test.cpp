#include "http/media_type.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;

MediaType preferred(std::initializer_list<std::string_view> accepts) {
    std::vector<Field> fields{{FieldId::other, "User-Agent", "text/html"}};
    for (const std::string_view accept : accepts)
        fields.push_back({FieldId::other, "Accept", accept});
    return preferred_media_type(fields);
}

constexpr MediaType json = MediaType::problem_json;
constexpr MediaType html = MediaType::html;
constexpr MediaType plain = MediaType::plain;

} // namespace

TEST_CASE("without a preference an answer is a problem document") {
    CHECK(preferred({}) == json);
    CHECK(preferred({""}) == json);
    CHECK(preferred({"*/*"}) == json);
    CHECK(preferred({"image/png"}) == json);
    CHECK(preferred({"application/json"}) == json);
    CHECK(preferred({"application/*"}) == json);
}

TEST_CASE("a browser gets a page") {
    CHECK(
        preferred({"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
                   "*/*;q=0.8"}) == html);
}

TEST_CASE("the heavier type wins") {
    CHECK(preferred({"text/html;q=0.5, text/plain"}) == plain);
    CHECK(preferred({"text/html;q=0.5, text/plain;q=0.501"}) == plain);
    CHECK(preferred({"application/problem+json;q=0.1, text/plain;q=0.2"}) == plain);
    CHECK(preferred({"text/plain;q=0.2, application/json;q=0.9"}) == json);
}

TEST_CASE("a more specific range goes before a wider one") {
    CHECK(preferred({"text/*, text/html;q=0.1"}) == plain);
    CHECK(preferred({"text/html;q=0.1, text/*"}) == plain);
    CHECK(preferred({"*/*, application/*;q=0.5, text/*;q=0.7"}) == html);
    CHECK(preferred({"*/*, application/*;q=0"}) == html);
}

TEST_CASE("several Accept fields are one list, and case does not matter") {
    CHECK(preferred({"text/plain;q=0.3", "TEXT/HTML; level=1; Q=0.4"}) == html);
}

TEST_CASE("what is malformed in Accept is passed over") {
    CHECK(preferred({"text/html;q=2, text/plain;q=0.1"}) == plain);
    CHECK(preferred({"text/html;q=0.1234, text/plain;q=0.1"}) == plain);
    CHECK(preferred({"text/html;q=, text/plain;q=0.1"}) == plain);
    CHECK(preferred({"html, , text/plain;q=0.1"}) == plain);
    CHECK(preferred({"text/html;q=1.001"}) == json);
}

TEST_CASE("a type is named by itself alone, with a weight above 0") {
    const auto names = [](std::string_view accept) {
        const Field field{.name = "Accept", .value = accept};
        return stint::http::names_media_type({&field, 1}, "text", "event-stream");
    };
    CHECK(names("text/event-stream"));
    CHECK(names("text/html, Text/Event-Stream;q=0.1"));
    CHECK(names("text/event-stream ; charset=utf-8"));
    CHECK_FALSE(names("text/event-stream;q=0"));
    CHECK_FALSE(names("text/event-stream;q=high"));
    CHECK_FALSE(names("text/event-streams"));
    CHECK_FALSE(names("text/*, */*"));
    CHECK_FALSE(names("text"));
    CHECK_FALSE(names(""));
    CHECK_FALSE(stint::http::names_media_type({}, "text", "event-stream"));
}
