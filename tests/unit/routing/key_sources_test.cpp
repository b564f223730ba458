#include "routing/key_sources.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace stint;
using namespace stint::routing;

std::vector<Field>
fields(std::initializer_list<std::pair<std::string_view, std::string_view>> lines) {
    std::vector<Field> made;
    for (const auto& [name, value] : lines)
        made.push_back({FieldId::other, name, value});
    return made;
}

std::string cookie(std::string_view line, std::string_view name = "sid") {
    return std::string{cookie_value(fields({{"Cookie", line}}), name)};
}

std::string query(std::string_view text, std::string_view name = "k") {
    std::string scratch;
    return std::string{query_value(text, name, scratch)};
}

std::string base64url(std::string_view text) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    unsigned bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 6;)
            out += alphabet[bits >> (count -= 6) & 63U];
    }
    if (count > 0)
        out += alphabet[bits << (6 - count) & 63U];
    return out;
}

std::string claim(std::string_view authorization, std::string_view name = "sub") {
    std::string scratch;
    return std::string{jwt_claim(fields({{"Authorization", authorization}}), name, scratch)};
}

std::string token(std::string_view payload) {
    return "eyJhbGciOiJIUzI1NiJ9." + base64url(payload) + ".c2lnbmF0dXJl";
}

} // namespace

TEST_CASE("a header's value is found whatever its case, and stands where it stood") {
    const auto head = fields({{"Host", "h"}, {"X-API-Key", "secret"}});
    std::string scratch;

    const std::string_view value = header_value(head, "x-api-key", scratch);

    CHECK(value == "secret");
    CHECK(value.data() == head[1].value.data());
    CHECK(scratch.empty());
    CHECK(header_value(head, "x-api", scratch).empty());
}

TEST_CASE("several lines of a header are one value, joined by a comma") {
    const auto head = fields({{"X-K", "a"}, {"Other", "o"}, {"x-k", "b"}, {"X-k", "c"}});
    std::string scratch = "kept";

    CHECK(header_value(head, "x-k", scratch) == "a, b, c");
    CHECK(scratch == "kepta, b, c");
}

TEST_CASE("a cookie is the first of its name") {
    CHECK(cookie("sid=abc") == "abc");
    CHECK(cookie("a=1; sid=abc; b=2") == "abc");
    CHECK(cookie("a=1;sid=abc;sid=other") == "abc");
    CHECK(cookie("sid=\"abc\"") == "abc");
    CHECK(cookie("sid=a=b==") == "a=b==");
    CHECK(cookie("xsid=1; sid2=2; SID=3; sid") == "");
    CHECK(cookie("sid=") == "");
    CHECK(cookie("sid=\"") == "\"");
    CHECK(cookie(" ; ;=; sid = abc ;") == "abc");
    CHECK(cookie_value(fields({{"Cookie", "a=1"}, {"cookie", "sid=2"}}), "sid") == "2");
}

TEST_CASE("a parameter of the query is decoded") {
    CHECK(query("k=v") == "v");
    CHECK(query("a=1&k=v&k=w") == "v");
    CHECK(query("k=a%20b+c%2B") == "a b c+");
    CHECK(query("%6B=v") == "v");
    CHECK(query("my+key=v", "my key") == "v");
    CHECK(query("k=%C3%A9") == "\xc3\xa9");
    CHECK(query("k=a=b") == "a=b");
    CHECK(query("K=v&kk=v&k") == "");
    CHECK(query("k=") == "");
    CHECK(query("&&k=v&") == "v");
    CHECK(query("") == "");
}

TEST_CASE("a parameter with a malformed escape has no value") {
    CHECK(query("k=%") == "");
    CHECK(query("k=a%2") == "");
    CHECK(query("k=a%zz") == "");
    CHECK(query("%k=1&k=v") == "v");
}

TEST_CASE("a claim is read from the token that the request bears") {
    CHECK(claim("Bearer " + token(R"({"sub":"alice","n":7})")) == "alice");
    CHECK(claim("bearer   " + token(R"({"sub":"alice","n":7})"), "n") == "7");
    CHECK(claim("Bearer " + token(R"({"sub":"a\u0062c"})")) == "abc");
    CHECK(claim("Bearer e30." + base64url(R"({"sub":"x"})") + ".") == "x"); // unsigned
    for (std::size_t blanks = 0; blanks < 3; ++blanks) // every length of the last group
        CHECK(claim("Bearer " + token(R"({"sub":"alice"})" + std::string(blanks, ' '))) == "alice");
}

TEST_CASE("a claim with dots in its name is one of that name, else one inside an object") {
    const std::string bearer =
        "Bearer " + token(R"({"https://x/roles":"r","https://x.example/tier":"gold",)"
                          R"("realm_access":{"owner":{"id":17}}})");

    CHECK(claim(bearer, "https://x/roles") == "r");
    CHECK(claim(bearer, "https://x.example/tier") == "gold");
    CHECK(claim(bearer, "realm_access.owner.id") == "17");
    CHECK(claim(bearer, "realm_access.owner").empty());
    CHECK(claim(bearer, "realm_access.id").empty());
}

TEST_CASE("what is no token with that claim has no value") {
    const std::string good = token(R"({"sub":"alice"})");
    for (const std::string& value :
         {std::string{}, std::string{"Bearer"}, std::string{"Bearer "}, "Basic " + good, good,
          std::string{"Bearer x"}, std::string{"Bearer a.b"}, "Bearer " + good + ".x.y",
          "Bearer " + token("not json"), "Bearer " + token(R"({"SUB":"alice"})"),
          "Bearer e30." + base64url(R"({"sub":"x"})") + "=.x", std::string{"Bearer a.+/.c"},
          std::string{"Bearer a.e30aa.c"}}) {
        CAPTURE(value);
        CHECK(claim(value).empty());
    }
    std::string scratch = "kept";
    const std::string bearer = "Bearer " + good;
    const auto twice = fields({{"Authorization", bearer}, {"authorization", bearer}});
    CHECK(jwt_claim(twice, "sub", scratch).empty());
    CHECK(jwt_claim({}, "sub", scratch).empty());
    CHECK(scratch == "kept");
}
