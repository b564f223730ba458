#include "fixture.hpp"
#include "simulate/log_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

namespace {

using NginxFields = std::vector<std::pair<std::string, std::string>>;

const std::string nginx_head = "192.0.2.1 - - [21/Nov/2026:13:00:00 +0100] ";

LoggedRequest read_nginx(const std::string& line) {
    CAPTURE(line);
    auto request = parse_nginx_line(line);
    REQUIRE(request.has_value());
    return *request;
}

} // namespace

TEST_CASE(
    "nginx: a line of the combined format tells time, client, request, status and two fields") {
    const LoggedRequest request = read_nginx(
        nginx_head + R"("POST /a?b=1 HTTP/2.0" 201 512 "https://a.example/" "curl/8.5")");

    CHECK(request.format == LogFormat::nginx);
    CHECK(request.time == noon);
    CHECK(request.whole_second);
    CHECK_FALSE(request.tells_duration);
    CHECK(request.request.client == "192.0.2.1");
    CHECK(request.request.method == "POST");
    CHECK(request.request.target == "/a?b=1");
    CHECK(request.status == 201);
    CHECK(request.was_routed());
    CHECK_FALSE(request.was_refused());
    CHECK_FALSE(request.tells_host());
    CHECK(
        request.request.fields ==
        NginxFields{{"referer", "https://a.example/"}, {"user-agent", "curl/8.5"}});
}

TEST_CASE("nginx: a field that is a hyphen was not sent, and the common format tells none") {
    const LoggedRequest combined = read_nginx(nginx_head + R"("GET / HTTP/1.1" 200 5 "-" "-")");
    CHECK(combined.request.fields.empty());
    CHECK(combined.tells("user-agent"));
    CHECK_FALSE(combined.tells("cookie"));

    const LoggedRequest common = read_nginx(nginx_head + R"("GET / HTTP/1.1" 304 -)");
    CHECK(common.request.fields.empty());
    CHECK_FALSE(common.tells("user-agent"));
}

TEST_CASE("nginx: clients over IPv6 and Unix sockets, and users with spaces and brackets") {
    const std::string rest = R"( [21/Nov/2026:04:30:00 -0730] "GET / HTTP/1.1" 200 5)";

    CHECK(read_nginx("2001:db8::1 - -" + rest).request.client == "2001:db8::1");
    CHECK(read_nginx("unix: - -" + rest).request.client.empty());
    const LoggedRequest odd = read_nginx("192.0.2.7 - a [b] c" + rest);
    CHECK(odd.request.client == "192.0.2.7");
    CHECK(odd.time == noon);
}

TEST_CASE("nginx: escapes are undone, and an absolute target tells the Host") {
    const LoggedRequest request = read_nginx(
        nginx_head + R"("GET http://a.example:81/\x22\xC3\xa4 HTTP/1.1" 429 0 "\"\\" "\x5Cx")");

    CHECK(request.request.target == "http://a.example:81/\"\xc3\xa4");
    CHECK(request.request.host == "a.example:81");
    CHECK(request.tells_host());
    CHECK(request.was_refused());
    CHECK(request.request.fields == NginxFields{{"referer", "\"\\"}, {"user-agent", "\\x"}});
}

TEST_CASE("nginx: of what is behind only the request's time is used") {
    const std::string combined = nginx_head + R"("GET / HTTP/1.1" 200 5 "-" "a b")";

    CHECK_FALSE(read_nginx(combined + R"( "198.51.100.1, 0.123")").tells_duration);
    CHECK_FALSE(read_nginx(combined + " 1763726400.123 -").tells_duration);
    CHECK_FALSE(read_nginx(combined + " \"unfinished").tells_duration);
    for (const char* more :
         {" 0.250 0.249", " \"-\" rt=0.250 uct=0.001", " . request_time=0.250"}) {
        const LoggedRequest request = read_nginx(combined + more);
        CHECK(request.tells_duration);
        CHECK(request.duration == 250ms);
        CHECK(request.time == noon - 250ms);
    }
}

TEST_CASE("nginx: a request that is none was not routed") {
    for (const char* text :
         {"-", "", "\\x16\\x03\\x01\\x00", "GET /", "GET", " / HTTP/1.1", "GET /\\x00 HTTP/1.1"}) {
        CAPTURE(text);
        CHECK_FALSE(read_nginx(nginx_head + "\"" + text + "\" 400 150 \"-\" \"-\"").was_routed());
    }
}

TEST_CASE("nginx: a line that is cut off or of another format is an error, wherever it ends") {
    const std::string line = nginx_head + R"("GET / HTTP/1.1" 200 5)";
    for (std::size_t size = 0; size + 1 < line.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(parse_nginx_line(line.substr(0, size)).has_value());
    }
    // What is left of the combined format is the common format only where it ends between two
    // parts.
    const std::string combined = line + R"( "https://a.example/" "curl/8.5")";
    for (std::size_t size = line.size(); size < combined.size(); ++size) {
        CAPTURE(size);
        const std::string cut = combined.substr(0, size);
        const bool inside = std::count(cut.begin(), cut.end(), '"') % 2 == 1;
        CHECK(parse_nginx_line(cut).has_value() == !inside);
    }
    CHECK_FALSE(
        parse_nginx_line(" - - [21/Nov/2026:13:00:00 +0100] \"GET / HTTP/1.1\" 200 5").has_value());
    CHECK_FALSE(parse_nginx_line("a - - [31/Feb/2026:13:00:00 +0100] \"GET / HTTP/1.1\" 200 5")
                    .has_value());
}
