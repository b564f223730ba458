#include "response_support.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::http;
using namespace stint::http::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

struct Reply {
    std::string head;
    std::string body;

    [[nodiscard]] bool has(std::string_view line) const {
        return head.find("\r\n" + std::string{line} + "\r\n") != std::string::npos;
    }
    [[nodiscard]] Json json() const { return Json::parse(body); }
};

Reply split(const Response& response, const ResponseTerms& with = terms) {
    const std::string text = text_of(response, with);
    const std::size_t end = text.find("\r\n\r\n") + 4;
    return {text.substr(0, end), text.substr(end)};
}

Reply problem(int status, std::string_view detail, const ResponseTerms& with = terms) {
    Response response;
    make_problem(response, context, status, detail);
    return split(response, with);
}

Reply limited(const LimitedReply& reply) {
    Response response;
    make_limited(response, context, reply);
    return split(response);
}

std::string_view date(DateClock& clock, std::chrono::nanoseconds since_epoch) {
    return clock.format(WallTime{since_epoch});
}

} // namespace

TEST_CASE("a problem is a complete response") {
    const Reply reply = problem(502, "The upstream hung up.");

    CHECK(reply.head.starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
    CHECK(reply.has("Server: stint"));
    CHECK(reply.has("Date: Sun, 06 Nov 1994 08:49:37 GMT"));
    CHECK(reply.has("Content-Type: application/problem+json"));
    CHECK(reply.has("Cache-Control: no-store"));
    CHECK(reply.has("X-Request-Id: id-1"));
    CHECK(reply.has("Content-Length: " + std::to_string(reply.body.size())));
    CHECK(
        reply.json() == Json{
                            {"type", "about:blank"},
                            {"title", "Bad Gateway"},
                            {"status", 502},
                            {"detail", "The upstream hung up."}});
}

TEST_CASE("a reply is appended to what is there") {
    Response response;
    make_problem(response, context, 404, "");
    HeadBuffer out;
    out << "before";

    write_response(out, response, terms);

    CHECK(out.view().starts_with("beforeHTTP/1.1 404 Not Found\r\n"));
}

TEST_CASE("a reply to HEAD has the length of the body that it leaves out") {
    ResponseTerms head = terms;
    head.head_request = true;

    const Reply reply = problem(404, "Nothing here.", head);

    CHECK(reply.body.empty());
    const std::size_t whole = problem(404, "Nothing here.").body.size();
    CHECK(reply.has("Content-Length: " + std::to_string(whole)));
}

TEST_CASE("a reply says what becomes of the connection") {
    ResponseTerms closing = terms;
    closing.keep_alive = false;
    CHECK(problem(400, "", closing).has("Connection: close"));

    ResponseTerms old = terms;
    old.client_minor = 0;
    CHECK(problem(400, "", old).has("Connection: keep-alive"));

    CHECK(problem(400, "").head.find("Connection") == std::string::npos);
}

TEST_CASE("a reply without a request id has no such field") {
    Response response;
    make_problem(response, {}, 400, "");

    CHECK(split(response).head.find("X-Request-Id") == std::string::npos);
}

TEST_CASE("a detail is escaped") {
    const std::string detail{"a\"b\\c\n\t\0\x1f/\x7f\xc3\xa9\xf0\x9f\x98\x80", 17};

    CHECK(problem(400, detail).json()["detail"] == detail);
}

TEST_CASE("bytes of a detail that are no UTF-8 are replaced") {
    const auto detail = [](std::string_view text) {
        return problem(400, text).json()["detail"].get<std::string>();
    };
    const std::string mark = "\xef\xbf\xbd";

    CHECK(
        detail("a\xff"
               "b") == "a" + mark + "b");
    CHECK(detail("\xc3") == mark);
    CHECK(detail("\xc0\xaf") == mark + mark);
    CHECK(detail("\xe0\x80\xaf") == mark + mark + mark);
    CHECK(detail("\xed\xa0\x80") == mark + mark + mark);
    CHECK(detail("\xf4\x90\x80\x80") == mark + mark + mark + mark);
    CHECK(detail("\xe2\x82\xac") == "\xe2\x82\xac");
}

TEST_CASE("a method that is not allowed is answered with those that are") {
    Response response;
    make_method_not_allowed(response, context, "GET, HEAD");
    const Reply reply = split(response);

    CHECK(reply.head.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
    CHECK(reply.has("Allow: GET, HEAD"));
    CHECK(reply.json()["status"] == 405);
}

TEST_CASE("every 405 has an Allow") {
    CHECK(problem(405, "").head.find("\r\nAllow: ") != std::string::npos);
}

TEST_CASE("a refusal by a limit says when to come back") {
    const Reply reply = limited({"per_client", 11'000'001ns + 11s, LimitedReply::Why::window});

    CHECK(reply.head.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
    CHECK(reply.has("Retry-After: 12"));
    CHECK(reply.has("Retry-After-Ms: 11012"));
    CHECK(reply.has("Cache-Control: no-store"));
    CHECK(reply.has("Content-Type: application/problem+json"));
    CHECK(reply.has("Content-Length: " + std::to_string(reply.body.size())));
}

TEST_CASE("a refusal by a limit is a quota-exceeded problem that names it") {
    const Json body = limited({"per_client", 1500ms, LimitedReply::Why::window}).json();

    CHECK(body["type"] == "https://iana.org/assignments/http-problem-types#quota-exceeded");
    CHECK(body["title"] == "Quota exceeded");
    CHECK(body["status"] == 429);
    CHECK(body["limit"] == "per_client");
    CHECK(body["violated-policies"] == Json::array({"per_client"}));
    CHECK(body["retry_after_ms"] == 1500);
    CHECK(body["detail"] == "The limit per_client is used up; retry in 2 s.");
}

TEST_CASE("the limits that refuse as well are named behind the one that decides") {
    const std::array<std::string_view, 2> others{"shop", "all"};
    LimitedReply reply{"per_client", 1s};
    reply.others = others;
    const Json body = limited(reply).json();

    CHECK(body["limit"] == "per_client");
    CHECK(body["violated-policies"] == Json::array({"per_client", "shop", "all"}));
}

TEST_CASE("each reason for a refusal has its own sentence") {
    using Why = LimitedReply::Why;
    const auto detail = [](Why why) {
        return limited({"x", 1s, why}).json()["detail"].get<std::string>();
    };

    CHECK(detail(Why::window) != detail(Why::cap));
    CHECK(detail(Why::cap) != detail(Why::table_full));
}

TEST_CASE("a request that can never be admitted is not told to come back") {
    const Reply reply = limited({"x", Duration::max(), LimitedReply::Why::cost});

    CHECK(reply.head.find("Retry-After") == std::string::npos);
    CHECK_FALSE(reply.json().contains("retry_after_ms"));
    CHECK(
        reply.json()["detail"] == "The limit x is less than this request costs by itself; it can "
                                  "never be admitted.");
}

TEST_CASE("a refusal never says zero") {
    const Reply reply = limited({"x", 0s, LimitedReply::Why::cap});

    CHECK(reply.has("Retry-After: 1"));
    CHECK(reply.has("Retry-After-Ms: 1"));
}

TEST_CASE("a denial names its limit and no time") {
    Response response;
    make_denied(response, context, "by \"key\"", "no\nkey");
    const Reply reply = split(response);

    CHECK(reply.head.starts_with("HTTP/1.1 403 Forbidden\r\n"));
    CHECK(reply.head.find("Retry-After") == std::string::npos);
    CHECK(
        reply.json() == Json{
                            {"type", "about:blank"},
                            {"title", "Forbidden"},
                            {"status", 403},
                            {"detail", "The limit by \"key\": no\nkey."},
                            {"limit", "by \"key\""}});
}

TEST_CASE("who is fenced off is told by which lock, and no time") {
    Response response;
    make_fenced_off(response, context, "jobs", "out of date");
    const Reply reply = split(response);

    CHECK(reply.head.starts_with("HTTP/1.1 412 Precondition Failed\r\n"));
    CHECK(reply.head.find("Retry-After") == std::string::npos);
    CHECK(
        reply.json() == Json{
                            {"type", "about:blank"},
                            {"title", "Precondition Failed"},
                            {"status", 412},
                            {"detail", "The lock jobs: out of date."},
                            {"lock", "jobs"}});
}

TEST_CASE("a date is an IMF-fixdate") {
    DateClock clock;

    CHECK(date(clock, 784'111'777s) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(date(clock, 784'111'777s + 999ms) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(date(clock, 1'709'251'199s) == "Thu, 29 Feb 2024 23:59:59 GMT");
    CHECK(date(clock, 0s) == "Thu, 01 Jan 1970 00:00:00 GMT");
    CHECK(date(clock, 4'102'444'800s) == "Fri, 01 Jan 2100 00:00:00 GMT");
}

TEST_CASE("an unassigned status has the reason Unknown") {
    CHECK(reason_phrase(429) == "Too Many Requests");
    CHECK(reason_phrase(299) == "Unknown");
}
