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

// How a path is routed, or the status with which it is refused.
std::string path(std::string_view text, const stint::PathRules& rules = {}) {
    std::string scratch;
    const auto result = normalise_path(text, rules, scratch);
    return result ? std::string{result->text} : std::to_string(result.error().status);
}

constexpr stint::PathRules unmerged{false, false};

NormalPath normal(std::string_view text, const stint::PathRules& rules = {}) {
    static std::string scratch;
    return normalise_path(text, rules, scratch).value();
}

std::string read(std::string_view text, PathReading reading) {
    const auto result = read_path(text, {}, reading);
    return result ? *result : std::to_string(result.error().status);
}

} // namespace

TEST_CASE("a host is lower case without port and trailing dot") {
    CHECK(host("a.example") == "a.example");
    CHECK(host("A.Example:8080") == "a.example");
    CHECK(host("a.example.:80") == "a.example");
    CHECK(host("[2001:DB8::1]:443") == "[2001:db8::1]");
    CHECK(host("[2001:db8:0:0:0::0.0.0.1]") == "[2001:db8::1]");
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
        CHECK(normalise_path(text, {}, scratch)->text.data() == text.data());
    }
}

TEST_CASE("escapes of unreserved characters are decoded, others spelt in upper case") {
    CHECK(path("/%61%7E%2d") == "/a~-");
    CHECK(path("/a%2fb%c3%a9") == "/a%2Fb%C3%A9");
    CHECK(path("/%2541") == "/%2541");
}

TEST_CASE("what may not stand in a path is the same as its escape") {
    CHECK(path("/a|b") == "/a%7Cb");
    CHECK(path("/[^`{}]") == "/%5B%5E%60%7B%7D%5D");
    CHECK_FALSE(normal("/a|b").forward);
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
    CHECK(path("/a%5cb") == "400");
    CHECK(path("/a%5C..") == "400");
    CHECK(path("/%41") == "/A");
}

TEST_CASE("slashes are not merged where the rules say so") {
    CHECK(path("//a///b//", unmerged) == "//a///b//");
    CHECK(path("/a//../b", unmerged) == "/a/b"); // RFC 3986 section 5.2.4
    CHECK(path("//..", unmerged) == "/");
    CHECK(path("/a/.//b/..", unmerged) == "/a//");
    CHECK(path("//../..", unmerged) == "400");
}

TEST_CASE("an escaped slash is data, or refused where the rules say so") {
    CHECK(path("/a%2fb", {true, true}) == "400");
    CHECK(path("/a%252Fb", {true, true}) == "/a%252Fb");
    CHECK(path("/a%2fb") == "/a%2Fb");
    CHECK(path("/a/..%2fb") == "/a/..%2Fb");
}

TEST_CASE("a path is sent as it is routed where dots, or its beginning, may be read differently") {
    for (const std::string_view rewritten : {"/a/../b", "/a/.", "/%2e/a", "/a/%2E%2e/b", "//a"}) {
        CAPTURE(rewritten);
        CHECK(normal(rewritten).forward);
    }
    for (const std::string_view kept : {"/a", "/%61", "/a//b", "/a%2fb", "/.a", "/a;..", "/a/"}) {
        CAPTURE(kept);
        CHECK_FALSE(normal(kept).forward);
    }
    CHECK_FALSE(normal("//a", unmerged).forward);
    CHECK(normal("//a/.", unmerged).forward);
}

TEST_CASE("escaped slashes and marks, and parameters, make a path ambiguous") {
    using enum PathReading;
    CHECK(normal("/a%2fb").ambiguous == decoded_slashes);
    CHECK(normal("/a%2Fb/..").ambiguous == decoded_slashes);
    CHECK(normal("/a;b").ambiguous == cut_parameters);
    CHECK(normal("/a%3bb").ambiguous == cut_parameters);
    CHECK(normal("/a;b%2Fc").ambiguous == (decoded_slashes | cut_parameters | cut_first));
    CHECK(normal("/a;b/c%2Fd").ambiguous == (decoded_slashes | cut_parameters));
    CHECK(normal("/a%3ab").ambiguous == decoded_marks);
    CHECK(normal("/a%2Fb;c%28").ambiguous == (decoded_slashes | cut_parameters | decoded_marks));
    for (const std::string_view mark :
         {"%3A", "%40", "%21", "%24", "%26", "%27", "%28", "%29", "%2A", "%2B", "%2C", "%3D"}) {
        CAPTURE(mark);
        CHECK(normal(std::string{"/a"}.append(mark)).ambiguous == decoded_marks);
    }
    for (const std::string_view plainly :
         {"/a%253Bb%252F%253A", "/a/../b", "/a:b", "/%41%7e", "/%20%C3%A9%3F%23%5B%5D%25%7C",
          "/!$&'()*+,=:@"}) {
        CAPTURE(plainly);
        CHECK(normal(plainly).ambiguous == plain);
    }
}

TEST_CASE("other servers decode slashes, cut parameters, or do both") {
    using enum PathReading;
    CHECK(read("/a%2Fb;c/d", decoded_slashes) == "/a/b;c/d");
    CHECK(read("/a%2Fb;c/d", cut_parameters) == "/a%2Fb/d");
    CHECK(read("/a%2Fb;c/d", decoded_slashes | cut_parameters) == "/a/b/d");
    CHECK(read("/x/..;v=1/a", cut_parameters) == "/a");
    CHECK(read("/x/..;v=1/a", decoded_slashes) == "/x/..;v=1/a");
    CHECK(read("/x/..%2f/a", decoded_slashes) == "/a");
    CHECK(read("/x;%2F..%2Fa", decoded_slashes | cut_parameters) == "/a");
    CHECK(read("/x;%2F..%2Fa", cut_parameters) == "/x");
    CHECK(read("/x/%2e%2e;/%61", cut_parameters) == "/a");
    CHECK(read("/;a/;b", cut_parameters) == "/");
    CHECK(read("/a%3bb/c%3B", cut_parameters) == "/a/c");
    CHECK(read("/x;y%2Fz/..%2Fapi", cut_first | decoded_slashes) == "/api");
    CHECK(read("/x;y%2Fz/..%2Fapi", cut_parameters | decoded_slashes) == "/x/api");
    CHECK(read("/x;y/%3Bz", cut_first) == "/x/%3Bz");
    CHECK(read("/..%2F", decoded_slashes) == "400");
    CHECK(read("/..;/a", cut_parameters) == "400");
    CHECK(read("/a/..;%2F..;", decoded_slashes | cut_parameters) == "400");
}

TEST_CASE("other servers decode marks, too") {
    using enum PathReading;
    CHECK(read("/a%3ab%28%29", decoded_marks) == "/a:b()");
    CHECK(read("/a%253Ab%2F%3B%20", decoded_marks) == "/a%253Ab%2F%3B%20");
    CHECK(read("/a%3A%2Fb;c", decoded_marks) == "/a:%2Fb;c");
    CHECK(read("/a%3A%2Fb;c", decoded_slashes) == "/a%3A/b;c");
    CHECK(read("/a%3A%2Fb;c", cut_parameters | decoded_marks) == "/a:%2Fb");
    CHECK(read("/a%3A%2F../b;c", decoded_slashes | cut_parameters | decoded_marks) == "/b");
}

TEST_CASE("every set of readings comes behind its parts") {
    for (std::size_t i = 0; i < path_readings.size(); ++i)
        for (std::size_t j = i + 1; j < path_readings.size(); ++j)
            CHECK_FALSE(has(path_readings[i], path_readings[j]));
    CHECK(
        path_readings.back() == (PathReading::decoded_slashes | PathReading::cut_parameters |
                                 PathReading::decoded_marks | PathReading::cut_first));
}
