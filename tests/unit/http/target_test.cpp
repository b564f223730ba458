#include "http/target.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace stint::http;

std::string host(std::string_view authority) {
    std::string scratch;
    return std::string{normalise_host(authority, scratch)};
}

std::string path(std::string_view text) {
    std::string scratch;
    const auto result = normalise_path(text, scratch);
    return result ? std::string{*result} : std::to_string(result.error().status);
}

} // namespace

TEST_CASE("a host is lower case without port and trailing dot") {
    CHECK(host("a.example") == "a.example");
    CHECK(host("A.Example:8080") == "a.example");
    CHECK(host("a.example.:80") == "a.example");
    CHECK(host("[2001:DB8::1]:443") == "[2001:db8::1]");
    CHECK(host("[::1]") == "[::1]");
    CHECK(host("a:") == "a");
    CHECK(host("") == "");
}

TEST_CASE("a host that is already normal is not copied") {
    std::string scratch;
    const std::string_view authority = "a.example:80";

    CHECK(normalise_host(authority, scratch).data() == authority.data());
}

TEST_CASE("a path that is already normal is not copied") {
    std::string scratch;
    for (const std::string_view text : {"/", "/a/b.c/..d", "/a%2Fb", "*"}) {
        CAPTURE(text);
        CHECK(normalise_path(text, scratch)->data() == text.data());
    }
}

TEST_CASE("escapes of unreserved characters are decoded, others spelt in upper case") {
    CHECK(path("/%61%7E%2d") == "/a~-");
    CHECK(path("/a%2fb%c3%a9") == "/a%2Fb%C3%A9");
    CHECK(path("/%2541") == "/%2541");
    CHECK(path("/%5c") == "/%5C");
}

TEST_CASE("dot segments are removed") {
    CHECK(path("/a/./b") == "/a/b");
    CHECK(path("/a/../b") == "/b");
    CHECK(path("/a/b/..") == "/a/");
    CHECK(path("/a/.") == "/a/");
    CHECK(path("/.") == "/");
    CHECK(path("/a/..") == "/");
    CHECK(path("/a/b/../../c") == "/c");
    CHECK(path("/...") == "/...");
    CHECK(path("/.a/..b") == "/.a/..b");
}

TEST_CASE("escaped dot segments are dot segments") {
    CHECK(path("/a/%2e%2E/b") == "/b");
    CHECK(path("/a/.%2e/b") == "/b");
    CHECK(path("/%2e/b") == "/b");
}

TEST_CASE("runs of slashes are one slash") {
    CHECK(path("//a///b//") == "/a/b/");
    CHECK(path("//") == "/");
    CHECK(path("/a//../b") == "/b");
}

TEST_CASE("a path that climbs above its root is refused") {
    CHECK(path("/..") == "400");
    CHECK(path("/a/../../b") == "400");
    CHECK(path("/%2e%2e/b") == "400");
    CHECK(path("//../b") == "400");
}

TEST_CASE("malformed and NUL escapes are refused") {
    CHECK(path("/%") == "400");
    CHECK(path("/%4") == "400");
    CHECK(path("/%4g") == "400");
    CHECK(path("/%g4") == "400");
    CHECK(path("/a%00b") == "400");
    CHECK(path("/%41") == "/A");
}
