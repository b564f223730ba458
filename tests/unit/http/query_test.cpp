#include "http/query.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace stint::http;

std::string decoded(std::string_view text) {
    return percent_decoded(text).value_or("(malformed)");
}

std::string key(std::string_view query) {
    return std::string{parameter(query, "key").value_or("(none)")};
}

} // namespace

TEST_CASE("escapes are decoded, everything else stands for itself") {
    CHECK(decoded("") == "");
    CHECK(decoded("a+b") == "a+b");
    CHECK(decoded("%3a%3A1") == "::1");
    CHECK(decoded("a%2Fb%25") == "a/b%");
}

TEST_CASE("a malformed escape and an escaped NUL are not decoded") {
    for (const auto* text : {"%", "%4", "%ZZ", "a%4G", "%00", "a%00b"})
        CHECK_MESSAGE(!percent_decoded(text), text);
}

TEST_CASE("a parameter is found wherever it stands") {
    CHECK(key("key=1") == "1");
    CHECK(key("a=2&key=1") == "1");
    CHECK(key("key=1&a=2") == "1");
    CHECK(key("&&key=1") == "1");
}

TEST_CASE("the first of two parameters of one name counts") {
    CHECK(key("key=1&key=2") == "1");
}

TEST_CASE("a parameter without a value is empty") {
    CHECK(key("key=") == "");
    CHECK(key("key") == "");
    CHECK(key("key&a=1") == "");
}

TEST_CASE("a value may hold an equals sign") {
    CHECK(key("key=a=b") == "a=b");
}

TEST_CASE("a parameter of another name is not it") {
    CHECK(key("") == "(none)");
    CHECK(key("keys=1&akey=2&a=key") == "(none)");
}
