#include "http/head_parser.hpp"
#include "http/request_line.hpp"
#include "http_support.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>

namespace {

using namespace stint;
using namespace stint::http;

bool within(std::string_view view, std::string_view head) {
    return view.data() >= head.data() && view.data() + view.size() <= head.data() + head.size();
}

void check_all_within(const RequestHead& request, std::string_view head) {
    CHECK(within(request.method, head));
    CHECK(within(request.target, head));
    CHECK(within(request.path, head));
    CHECK(within(request.query, head));
    CHECK(within(request.authority, head));
    for (const Field& field : request.fields) {
        CHECK(within(field.name, head));
        CHECK(within(field.value, head));
    }
}

FieldId id_of(std::string_view name) {
    const std::string head = "HTTP/1.1 304 X\r\n" + std::string{name} + ": 1\r\n\r\n";
    HeadParser parser{test::max_head};
    return parser.parse_response(head, "GET").value().fields[0].id;
}

} // namespace

TEST_CASE("a head's end is found wherever its bytes are cut") {
    const std::string_view head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string bytes = std::string{head} + "GET /next HTTP/1.1\r\n\r\n";

    for (std::size_t cut = 0; cut < head.size(); ++cut) {
        std::size_t scanned = 0;
        CHECK(find_head_end(std::string_view{bytes}.substr(0, cut), scanned) == 0);
        CHECK(scanned <= cut);
        CHECK(find_head_end(bytes, scanned) == head.size());
    }
}

TEST_CASE("a head that arrives byte by byte is found at its last byte") {
    const std::string_view head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    std::size_t scanned = 0;

    for (std::size_t size = 0; size < head.size(); ++size)
        REQUIRE(find_head_end(head.substr(0, size), scanned) == 0);

    CHECK(find_head_end(head, scanned) == head.size());
}

TEST_CASE("bytes that were looked at are not looked at again") {
    std::string bytes(1000, 'x');
    std::size_t scanned = 0;

    REQUIRE(find_head_end(bytes, scanned) == 0);

    CHECK(scanned == 1000);
}

TEST_CASE("an origin-form request is taken apart") {
    const std::string head = "gEt /a/b?c=d?e HTTP/1.1\r\nHost: a.example:80\r\nX-y:  z \t\r\n\r\n";
    HeadParser parser{test::max_head};

    const RequestHead request = parser.parse_request(head).value();

    CHECK(request.method == "gEt");
    CHECK(request.target == "/a/b?c=d?e");
    CHECK(request.path == "/a/b");
    CHECK(request.query == "c=d?e");
    CHECK(request.authority == "a.example:80");
    CHECK(request.minor_version == 1);
    REQUIRE(request.fields.size() == 2);
    CHECK(request.fields[0].id == FieldId::host);
    CHECK(request.fields[1].name == "X-y");
    CHECK(request.fields[1].value == "z");
    check_all_within(request, head);
}

TEST_CASE("an absolute-form target's authority replaces Host") {
    const std::string head = "GET HTTP://b.example/x?y HTTP/1.1\r\nHost: a.example\r\n\r\n";
    HeadParser parser{test::max_head};

    const RequestHead request = parser.parse_request(head).value();

    CHECK(request.authority == "b.example");
    CHECK(request.path == "/x");
    CHECK(request.query == "y");
    check_all_within(request, head);
}

TEST_CASE("an absolute-form target without a path has the path /") {
    const std::string head = "GET http://b.example?y HTTP/1.1\r\nHost: a.example\r\n\r\n";
    HeadParser parser{test::max_head};

    const RequestHead request = parser.parse_request(head).value();

    CHECK(request.path == "/");
    CHECK(request.query == "y");
    check_all_within(request, head);
}

TEST_CASE("the views of a head without Host or query still point into it") {
    const std::string head = "OPTIONS * HTTP/1.0\r\n\r\n";
    HeadParser parser{test::max_head};

    const RequestHead request = parser.parse_request(head).value();

    CHECK(request.path == "*");
    CHECK(request.authority.empty());
    CHECK(request.minor_version == 0);
    check_all_within(request, head);
}

TEST_CASE("fields that the gateway handles are known by their names in any case") {
    CHECK(id_of("cOnNeCtIoN") == FieldId::connection);
    CHECK(id_of("DATE") == FieldId::date);
    CHECK(id_of("expect") == FieldId::expect);
    CHECK(id_of("Forwarded") == FieldId::forwarded);
    CHECK(id_of("HOST") == FieldId::host);
    CHECK(id_of("HTTP2-Settings") == FieldId::http2_settings);
    CHECK(id_of("Keep-Alive") == FieldId::keep_alive);
    CHECK(id_of("max-Forwards") == FieldId::max_forwards);
    CHECK(id_of("Proxy-Authenticate") == FieldId::proxy_authenticate);
    CHECK(id_of("Proxy-Authorization") == FieldId::proxy_authorization);
    CHECK(id_of("Proxy-Connection") == FieldId::proxy_connection);
    CHECK(id_of("tE") == FieldId::te);
    CHECK(id_of("Trailer") == FieldId::trailer);
    CHECK(id_of("Upgrade") == FieldId::upgrade);
    CHECK(id_of("via") == FieldId::via);
    CHECK(id_of("X-FORWARDED-FOR") == FieldId::x_forwarded_for);
    CHECK(id_of("x-forwarded-host") == FieldId::x_forwarded_host);
    CHECK(id_of("X-Forwarded-Proto") == FieldId::x_forwarded_proto);
    CHECK(id_of("X-Request-ID") == FieldId::x_request_id);
    CHECK(id_of("X-STINT-Fence") == FieldId::x_stint_fence);
    CHECK(id_of("x-stint-TICKET") == FieldId::x_stint_ticket);
    CHECK(id_of("X-Stint-Permit") == FieldId::x_stint_permit);
    CHECK(id_of("X-STINT-Permits") == FieldId::x_stint_other);
    CHECK(id_of("X-Stint-") == FieldId::x_stint_other);
    CHECK(id_of("X-Stint") == FieldId::other);
    CHECK(id_of("X-Forwarded-Fox") == FieldId::other);
    CHECK(id_of("pRoXy") == FieldId::proxy_other);
    CHECK(id_of("Proxy-Anything") == FieldId::proxy_other);
    CHECK(id_of("Proxy-Authentication-Info") == FieldId::proxy_other);
    CHECK(id_of("Proxies") == FieldId::other);
    CHECK(id_of("X_Forwarded_For") == FieldId::underscored);
    CHECK(id_of("a_b") == FieldId::underscored);
    CHECK(id_of("User-Agent") == FieldId::other);
}

TEST_CASE("a head says which fields it has") {
    HeadParser parser{test::max_head};

    const FieldIds of_request =
        parser.parse_request(test::get_with("TE: a\r\nX-Stint-Ticket: b\r\n"))->ids;
    CHECK(of_request.contains(FieldId::te));
    CHECK(of_request.contains(FieldId::x_stint_ticket));
    CHECK(!of_request.contains(FieldId::upgrade));
    const FieldIds of_response =
        parser.parse_response("HTTP/1.1 204 No Content\r\nDate: a\r\n\r\n", "GET")->ids;
    CHECK(of_response.contains(FieldId::date));
    CHECK(!of_response.contains(FieldId::te));
}

TEST_CASE("a head with more fields than allowed is refused with 431") {
    HeadParser parser{test::max_head, 3};

    const auto three = parser.parse_request(test::get_with("A: 1\r\nB: 2\r\n"));
    CHECK(three.has_value());
    const auto four = parser.parse_request(test::get_with("A: 1\r\nB: 2\r\nC: 3\r\n"));
    REQUIRE(four.has_error());
    CHECK(four.error().status == 431);
}

TEST_CASE("a head of nearly max_head bytes is accepted") {
    const std::string long_value(test::max_head - 100, 'x');

    CHECK(test::refusal(test::get_with("X: " + long_value + "\r\n")) == 0);
    CHECK(test::refusal("GET /" + long_value + " HTTP/1.0\r\n\r\n") == 0);
}

TEST_CASE("a Content-Length beyond any limit of the parser is no error of the head") {
    const std::string head = test::get_with("Content-Length: 1099511627776\r\n");
    HeadParser parser{test::max_head};

    CHECK(parser.parse_request(head).value().framing.length == std::uint64_t{1} << 40);
}

TEST_CASE("100-continue is expected only where there is a body to wait for") {
    HeadParser parser{test::max_head};
    const auto expects = [&parser](const std::string& head) {
        return parser.parse_request(head).value().expects_continue;
    };

    CHECK(expects(test::get_with("Expect: 100-continue\r\nContent-Length: 5\r\n")));
    CHECK_FALSE(expects(test::get_with("Expect: 100-continue\r\n")));
    CHECK_FALSE(expects("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
}

TEST_CASE("a parser is as good as new after a refused head") {
    HeadParser parser{test::max_head};
    REQUIRE(parser.parse_request("nonsense\r\n\r\n").has_error());

    const std::string head = test::get_with("A: b\r\n");
    const RequestHead request = parser.parse_request(head).value();

    CHECK(request.fields.size() == 2);
}

TEST_CASE("bytes after the head are an error, not a part of it") {
    CHECK(test::refusal(test::get_with("") + "GET") == 400);
}

TEST_CASE("a truncated head is refused") {
    const std::string head = test::get_with("A: b\r\n");

    for (std::size_t size = 0; size < head.size(); ++size)
        REQUIRE(test::refusal(std::string_view{head}.substr(0, size)) == 400);
}

TEST_CASE("a response is taken apart") {
    const std::string head = "HTTP/1.0 404 Not  here\r\nContent-Length: 3\r\n\r\n";
    HeadParser parser{test::max_head};

    const ResponseHead response = parser.parse_response(head, "GET").value();

    CHECK(response.status == 404);
    CHECK(response.reason == "Not  here");
    CHECK(response.minor_version == 0);
    CHECK(response.framing.length == 3);
    CHECK_FALSE(response.keep_alive);
    CHECK(within(response.reason, head));
}

TEST_CASE("a response may have an empty reason") {
    const std::string head = "HTTP/1.1 200 \r\n\r\n";
    HeadParser parser{test::max_head};

    CHECK(parser.parse_response(head, "GET").value().reason.empty());
}

TEST_CASE("a target longer than allowed is refused with 414, fewer fields than allowed are not") {
    HeadParser parser{test::max_head};
    const auto status = [&parser](const std::string& head, const RequestLimits& limits) {
        const auto request = parser.parse_request(head, limits);
        return request ? 0 : request.error().status;
    };
    const std::string origin = "GET /" + std::string(99, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string absolute = "GET http://a" + std::string(93, '/') + " HTTP/1.0\r\n\r\n";

    CHECK(status(origin, {.max_target = 100}) == 0);
    CHECK(status(origin, {.max_target = 99}) == 414);
    CHECK(status(absolute, {.max_target = 101}) == 0);
    CHECK(status(absolute, {.max_target = 100}) == 414);
    CHECK(status(test::get_with("A: 1\r\n"), {.max_fields = 2}) == 0);
    CHECK(status(test::get_with("A: 1\r\nB: 2\r\n"), {.max_fields = 2}) == 431);
    CHECK(status(test::get_with("A: 1\r\nB: 2\r\n"), {}) == 0);
}

TEST_CASE("responses have a limit of their own on their fields") {
    HeadParser parser{test::max_head, 3};
    const std::string three = "HTTP/1.1 204 X\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n";
    REQUIRE(parser.parse_response(three, "GET").has_value());

    parser.limit_response_fields(2);

    CHECK(parser.parse_response(three, "GET").has_error());
    CHECK(parser.parse_request(test::get_with("A: 1\r\nB: 2\r\n")).has_value());
}

TEST_CASE("a request line's target is too long as soon as it cannot be shorter") {
    const std::string line = "GET /" + std::string(99, 'a') + " HTTP/1.1\r\n";
    const std::string endless(1000, 'a');

    for (std::size_t cut = 0; cut <= line.size(); ++cut)
        CHECK_FALSE(target_too_long(std::string_view{line}.substr(0, cut), 100));
    CHECK(target_too_long(line, 99));
    CHECK(target_too_long(line + "Host: a\r\n", 99));
    for (std::size_t cut = 0; cut < line.size(); ++cut)
        CHECK_FALSE(target_too_long(std::string_view{line}.substr(0, cut), 99));
    CHECK_FALSE(target_too_long(std::string_view{endless}.substr(0, 164), 100));
    CHECK(target_too_long(std::string_view{endless}.substr(0, 165), 100));
    CHECK_FALSE(target_too_long(endless + "\r\n", 100)); // no request line: another matter
    CHECK_FALSE(target_too_long(endless + " \r\n", 100));
}

TEST_CASE("a head is read alike wherever its fields stand among many") {
    const auto filler = [](int count) {
        std::string fields;
        for (int i = 0; i < count; ++i)
            fields += "X-" + std::to_string(i) + ": 1\r\n";
        return fields;
    };
    HeadParser parser{test::max_head};
    for (int before = 0; before < 100; ++before) {
        CAPTURE(before);
        const std::string head = "POST / HTTP/1.1\r\n" + filler(before) +
                                 "Host: a\r\nContent-Length: 5\r\nConnection: close\r\nExpect: "
                                 "100-continue\r\n" +
                                 filler(100 - before) + "\r\n";
        const auto request = parser.parse_request(head);
        REQUIRE(request.has_value());
        CHECK(request->framing.length == 5);
        CHECK(request->authority == "a");
        CHECK_FALSE(request->keep_alive);
        CHECK(request->expects_continue);
        CHECK(request->fields.size() == 104);
    }
}

TEST_CASE("a parser that has seen a head of some fields reads one of more") {
    const auto with = [](std::string first, int count) {
        for (int i = 0; i < count; ++i)
            first += "X-" + std::to_string(i) + ": 1\r\n";
        return first + "\r\n";
    };
    const std::string request = "POST / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n"
                                "Transfer-Encoding: chunked\r\n";
    const std::string response = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n";
    HeadParser parser{test::max_head};
    for (int count = 0; count < 120; ++count) {
        CAPTURE(count);
        const std::string asked = with(request, count);
        const std::string answered = with(response, count);
        const auto request_head = parser.parse_request(asked);
        const auto response_head = parser.parse_response(answered, "GET");
        REQUIRE(request_head.has_value());
        CHECK(request_head->framing.kind == BodyFraming::Kind::chunked);
        CHECK_FALSE(request_head->keep_alive);
        REQUIRE(response_head.has_value());
        CHECK(response_head->framing.length == 7);
        CHECK_FALSE(response_head->keep_alive);
    }
}
