#include "fixture.hpp"
#include "simulate/log_line.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace stint;
using namespace stint::simulate;
using namespace stint::simulate::test;

namespace {

using HaproxyFields = std::vector<std::pair<std::string, std::string>>;

const std::string haproxy_start = "192.0.2.1:33317 [21/Nov/2026:11:59:59.990] web~ app/one ";
const std::string haproxy_rest = " 10/20/3/4/130 200 2750 - - ---- 1/1/1/1/0 0/0 ";
const std::string haproxy_tail = R"("GET /a HTTP/1.1")";

std::string whole_line(const std::string& captured = "") {
    return haproxy_start.substr(0, haproxy_start.size() - 1) + haproxy_rest + captured +
           haproxy_tail;
}

LoggedRequest read_haproxy(const std::string& line, const std::vector<std::string>& captured = {}) {
    CAPTURE(line);
    static std::vector<std::unique_ptr<HaproxyParser>> parsers; // results refer to them
    parsers.push_back(std::make_unique<HaproxyParser>(captured));
    auto request = parsers.back()->parse(line);
    REQUIRE(request.has_value());
    return *request;
}

} // namespace

TEST_CASE("haproxy: a line tells when the head was there and how long the request ran behind it") {
    const LoggedRequest request = read_haproxy(whole_line());

    CHECK(request.format == LogFormat::haproxy);
    CHECK(request.time == noon);
    CHECK(request.duration == 100ms); // without the head and HAProxy's queue
    CHECK(request.tells_duration);
    CHECK_FALSE(request.whole_second);
    CHECK(request.request.client == "192.0.2.1");
    CHECK(request.request.method == "GET");
    CHECK(request.request.target == "/a");
    CHECK(request.status == 200);
    CHECK(request.was_routed());
    CHECK_FALSE(request.tells("user-agent"));
}

TEST_CASE("haproxy: syslog's prefix, httpslog's end, IPv6 and Unix sockets") {
    for (const char* prefix :
         {"Nov 21 12:00:00 lb1 haproxy[14389]: ", "<134>Nov 21 12:00:00 haproxy[1]: ",
          "2026-11-21T12:00:00.130+00:00 lb1 haproxy[7]: "})
        CHECK(read_haproxy(prefix + whole_line()).request.client == "192.0.2.1");
    CHECK(
        read_haproxy(whole_line() + " 0/0000000000000000/0/0/0 a.example/TLSv1.3/TLS_AES_256")
            .status == 200);
    CHECK(
        read_haproxy("2001:db8::1:443" + whole_line().substr(15)).request.client == "2001:db8::1");
    CHECK(read_haproxy("unix:1" + whole_line().substr(15)).request.client.empty());
}

TEST_CASE("haproxy: captured headers are fields once they have names") {
    const std::string line = whole_line("{a.example|curl #7b#7D|} {nginx} ");

    CHECK(read_haproxy(line).has_captures);
    const LoggedRequest request = read_haproxy(line, {"Host", "User-Agent", "x-key", "x-more"});
    CHECK_FALSE(request.has_captures);
    CHECK(request.request.host == "a.example");
    CHECK(request.request.fields == HaproxyFields{{"user-agent", "curl {}"}});
    CHECK(request.tells("x-key")); // captured and empty: not sent
    CHECK_FALSE(request.tells("cookie"));
}

TEST_CASE("haproxy: requests that came to nothing") {
    const auto with = [](const std::string& middle, const std::string& request) {
        return read_haproxy(
            haproxy_start + middle + " 0 - - PR-- 1/1/0/0/0 0/0 \"" + request + "\"");
    };

    CHECK_FALSE(with("-1/-1/-1/-1/5 400", "<BADREQ>").was_routed());
    CHECK(with("0/-1/-1/-1/5 429", "GET / HTTP/1.1").was_refused());
    CHECK(with("0/-1/-1/-1/-1 -1", "GET / HTTP/1.1").duration == 0ms);
    CHECK_FALSE(with("0/0/0/1/+5 200", "GET / HTTP/1.1").tells_duration);
    CHECK(with("0/0/0/1/5 200", "GET https://b.example/ HTTP/2.0").request.host == "b.example");
}

TEST_CASE("haproxy: a line that is cut off is an error, wherever it ends") {
    const HaproxyParser parser{{}};
    const std::string line = whole_line("{a|b} ");
    for (std::size_t size = 0; size < line.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(parser.parse(line.substr(0, size)).has_value());
    }
    CHECK_FALSE(
        parser.parse("192.0.2.1:1 [21/Nov/2026:12:00:00.000] web app/one 1/1/5 80 -- 1/1/1/1/0 0/0")
            .has_value());
}
