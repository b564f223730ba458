// Every way to make two readers of one connection disagree about where a message ends, with the
// answer it must get. Each head also arrives in two pieces, cut at every position.
#include "http/head_parser.hpp"
#include "http_support.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace stint;
using namespace stint::http;
using Kind = BodyFraming::Kind;

struct Row {
    std::string_view name;
    std::string head;
    int status = 400; // 0: accepted
};

std::string post(std::string_view fields, std::string_view version = "1.1") {
    return "POST / HTTP/" + std::string{version} + "\r\nHost: a.example\r\n" + std::string{fields} +
           "\r\n";
}

std::string request_line(std::string_view line) {
    return std::string{line} + "\r\nHost: a.example\r\n\r\n";
}

const std::vector<Row>& framing_rows() {
    static const std::vector<Row> rows{
        {"TE then CL", post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n")},
        {"CL then TE", post("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n")},
        {"chunked then CL", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")},
        {"CL then chunked", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
        {"chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n")},
        {"chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n")},
        {"chunked in two fields",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
        {"gzip and chunked in two fields",
         post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")},
        {"empty list element", post("Transfer-Encoding: , chunked\r\n")},
        {"empty TE", post("Transfer-Encoding: \r\n")},
        {"TE that is no token", post("Transfer-Encoding: \"chunked\"\r\n")},
        {"chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n")},
        {"gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n"), 501},
        {"xchunked", post("Transfer-Encoding: xchunked\r\n"), 501},
        {"gzip", post("Transfer-Encoding: gzip\r\n"), 501},
        {"identity", post("Transfer-Encoding: identity\r\n"), 501},
        {"chunked", post("Transfer-Encoding: chunked\r\n"), 0},
        {"Chunked in capitals", post("TRANSFER-ENCODING: CHUNKED\r\n"), 0},
        {"chunked on 1.0", post("Transfer-Encoding: chunked\r\n", "1.0")},
        {"CL list", post("Content-Length: 5, 5\r\n")},
        {"CL twice, equal", post("Content-Length: 5\r\nContent-Length: 5\r\n")},
        {"CL twice, different", post("Content-Length: 5\r\nContent-Length: 6\r\n")},
        {"CL with a sign", post("Content-Length: +5\r\n")},
        {"negative CL", post("Content-Length: -5\r\n")},
        {"hexadecimal CL", post("Content-Length: 0x5\r\n")},
        {"empty CL", post("Content-Length: \r\n")},
        {"CL with a blank", post("Content-Length: 5 5\r\n")},
        {"CL that overflows", post("Content-Length: 18446744073709551616\r\n")},
        {"CL above 2^63 - 1", post("Content-Length: 9223372036854775808\r\n")},
        {"greatest CL", post("Content-Length: 9223372036854775807\r\n"), 0},
        {"CL with leading zeros", post("Content-Length: 005\r\n"), 0},
        {"CL on 1.0", post("Content-Length: 5\r\n", "1.0"), 0},
    };
    return rows;
}

const std::vector<Row>& syntax_rows() {
    static const std::vector<Row> rows{
        {"folded value", test::get_with("X: a\r\n b\r\n")},
        {"value folded by a tab", test::get_with("X: a\r\n\tb\r\n")},
        {"value that begins on the second line", test::get_with("X:\r\n b\r\n")},
        {"value folded into blanks", test::get_with("X: a\r\n \r\n")},
        {"empty value folded into blanks", test::get_with("X:\r\n \r\n")},
        {"folded Transfer-Encoding", post("Transfer-Encoding:\r\n chunked\r\n")},
        {"blank at the start of the first field", "GET / HTTP/1.1\r\n Host: a.example\r\n\r\n"},
        {"bare LF after a field", "GET / HTTP/1.1\r\nHost: a.example\nX: y\r\n\r\n"},
        {"bare LF everywhere", "GET / HTTP/1.1\nHost: a.example\n\n"},
        {"bare LF as the empty line", "GET / HTTP/1.1\r\nHost: a.example\r\n\n"},
        {"bare LF before the empty line", "GET / HTTP/1.1\r\nHost: a.example\n\r\n"},
        {"bare CR in a value", test::get_with("X: a\rb\r\n")},
        {"space before the colon", test::get_with("Content-Length : 5\r\n")},
        {"tab before the colon", test::get_with("Content-Length\t: 5\r\n")},
        {"NUL in a value", test::get_with({"X: a\0b\r\n", 8})},
        {"DEL in a value", test::get_with("X: a\x7f\r\n")},
        {"field without a colon", test::get_with("Xyz\r\n")},
        {"field without a name", test::get_with(": y\r\n")},
        {"obs-text in a value", test::get_with("X: \xc3\xa9\r\n"), 0},
    };
    return rows;
}

std::string host(std::string_view value) {
    return "GET / HTTP/1.1\r\nHost: " + std::string{value} + "\r\n\r\n";
}

const std::vector<Row>& request_line_rows() {
    static const std::vector<Row> rows{
        {"no Host", "GET / HTTP/1.1\r\n\r\n"},
        {"no Host beside an absolute form", "GET http://a.example/ HTTP/1.1\r\n\r\n"},
        {"two Hosts", test::get_with("Host: a.example\r\n")},
        {"two Hosts on 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
        {"no Host on 1.0", "GET / HTTP/1.0\r\n\r\n", 0},
        {"Host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
        {"Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
        {"Host with user information", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"},
        {"Host with two ports", "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n"},
        {"Host with a named port", "GET / HTTP/1.1\r\nHost: a:http\r\n\r\n"},
        {"Host with an open bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"},
        {"Host with text after the bracket", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"},
        {"IPv6 Host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 0},
        {"IPv6 Host that is no address", host("[::1::2]")},
        {"IPv4 Host in brackets", host("[1.2.3.4]")},
        {"IPv6 Host with a zone", host("[fe80::1%25eth0]")},
        {"IPv4 Host", host("1.2.3.4:80"), 0},
        {"Host of labels", host("a_b.C-d.example"), 0},
        {"Host with a final dot", host("a.example.:80"), 0},
        {"Host with two final dots", host("a.example..")},
        {"Host of a dot", host(".")},
        {"Host with a leading dot", host(".a")},
        {"Host with an empty label", host("a..b")},
        {"Host with an escape", host("a%2Eexample")},
        {"Host with a sub-delimiter", host("a,b")},
        {"Host with a tilde", host("~a")},
        {"Host that is a port", host(":80")},
        {"Host with an empty port", host("a:"), 0},
        {"Host with port 0", host("a:0")},
        {"Host with port 65535", host("a:65535"), 0},
        {"Host with port 65536", host("a:65536")},
        {"Host with six digits for a port", host("a:000080")},
        {"number sign in the target", request_line("GET /a#b HTTP/1.1")},
        {"backslash in the target", request_line("GET /a\\b HTTP/1.1")},
        {"quote in the target", request_line("GET /a\"b HTTP/1.1")},
        {"less-than in the target", request_line("GET /a<b HTTP/1.1")},
        {"greater-than in the target", request_line("GET /a>b HTTP/1.1")},
        {"byte from 0x80 in the target", request_line("GET /\xc3\xa9 HTTP/1.1")},
        {"control in the target", request_line("GET /\x01 HTTP/1.1")},
        {"space in the target", request_line("GET /a b HTTP/1.1")},
        {"two spaces before the target", request_line("GET  / HTTP/1.1")},
        {"space after the version", request_line("GET / HTTP/1.1 ")},
        {"target that is no path", request_line("GET a HTTP/1.1")},
        {"foreign scheme", request_line("GET ftp://a.example/ HTTP/1.1")},
        {"user information in the target", request_line("GET http://u:p@a.example/ HTTP/1.1")},
        {"absolute form without a host", request_line("GET http:///x HTTP/1.1")},
        {"asterisk for GET", request_line("GET * HTTP/1.1")},
        {"asterisk for OPTIONS", request_line("OPTIONS * HTTP/1.1"), 0},
        {"CONNECT", request_line("CONNECT a.example:443 HTTP/1.1"), 405},
        {"connect", request_line("connect / HTTP/1.1"), 405},
        {"TRACE", request_line("TRACE / HTTP/1.1"), 0},
        {"TRACE with a body", request_line("TRACE / HTTP/1.1\r\nContent-Length: 1")},
        {"TRACE with chunks", request_line("trace / HTTP/1.1\r\nTransfer-Encoding: chunked")},
        {"TRACE with an empty body", request_line("TRACE / HTTP/1.1\r\nContent-Length: 0"), 0},
        {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 505},
        {"empty line", "\r\n\r\n"},
        {"bare LF before the request line", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"bare CR before the request line", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"empty line before the request line", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
        {"HTTP/1.2", request_line("GET / HTTP/1.2"), 505},
        {"HTTP/2.0", request_line("GET / HTTP/2.0"), 505},
        {"HTTP/0.9", request_line("GET / HTTP/0.9"), 505},
        {"no version", request_line("GET /")},
        {"version in lower case", request_line("GET / http/1.1")},
        {"version with two digits", request_line("GET / HTTP/1.10")},
        {"method that is no token", request_line("GE(T / HTTP/1.1")},
        {"unknown expectation", post("Expect: 200-maybe\r\n"), 417},
        {"expectation twice", post("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 417},
        {"known expectation", post("Expect: 100-Continue\r\n"), 0},
    };
    return rows;
}

// Feeds find_head_end as a connection would: what has arrived, then everything.
std::size_t end_in_two_pieces(std::string_view bytes, std::size_t cut) {
    std::size_t scanned = 0;
    if (const std::size_t end = find_head_end(bytes.substr(0, cut), scanned))
        return end;
    return find_head_end(bytes, scanned);
}

void check_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(test::refusal(row.head) == row.status);
        for (std::size_t cut = 0; cut <= row.head.size(); ++cut) {
            const std::size_t end = end_in_two_pieces(row.head, cut);
            REQUIRE(end == row.head.size());
        }
    }
}

} // namespace

TEST_CASE("a request whose end is in doubt is refused") {
    check_rows(framing_rows());
}

TEST_CASE("a head that breaks the grammar is refused") {
    check_rows(syntax_rows());
}

TEST_CASE("a request line or Host that could be read in two ways is refused") {
    check_rows(request_line_rows());
}

TEST_CASE("a repeated length is as fatal in a response as in a request") {
    const auto response = [](std::string_view fields, std::string_view version = "1.1") {
        return "HTTP/" + std::string{version} + " 200 OK\r\n" + std::string{fields} + "\r\n";
    };

    CHECK(test::response_refused(response("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n")));
    CHECK(test::response_refused(response("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")));
    CHECK(test::response_refused(response("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")));
    CHECK(test::response_refused(response("Content-Length: 5\r\nContent-Length: 6\r\n")));
    CHECK(test::response_refused(response("Content-Length: 5\r\nContent-Length: 5\r\n")));
    CHECK(test::response_refused(response("Content-Length: 5, 5\r\n")));
    CHECK(test::response_refused(response("Transfer-Encoding: chunked\r\n", "1.0")));
    CHECK(test::response_refused(response("Transfer-Encoding: gzip\r\n")));
    CHECK(test::response_refused(response("X: a\r\n b\r\n")));
    CHECK_FALSE(test::response_refused(response("Content-Length: 5\r\n")));
}

TEST_CASE("a response's status and version must be HTTP/1's") {
    CHECK(test::response_refused("HTTP/1.1 099 Low\r\n\r\n"));
    CHECK(test::response_refused("HTTP/1.1 600 High\r\n\r\n"));
    CHECK(test::response_refused("HTTP/1.1 2000 Long\r\n\r\n"));
    CHECK(test::response_refused("HTTP/1.1 20 Short\r\n\r\n"));
    CHECK(test::response_refused("HTTP/2.0 200 OK\r\n\r\n"));
    CHECK(test::response_refused("ICY 200 OK\r\n\r\n"));
}

TEST_CASE("the framing of an accepted message is the one it states") {
    HeadParser parser{test::max_head};
    const auto framing = [&parser](const std::string& head) {
        return parser.parse_request(head).value().framing;
    };

    CHECK(framing(post("")).kind == Kind::none);
    CHECK(framing(post("Content-Length: 0\r\n")).kind == Kind::length);
    CHECK(framing(post("Content-Length: 005\r\n")).length == 5);
    CHECK(framing(post("Transfer-Encoding: Chunked\r\n")).kind == Kind::chunked);
}

TEST_CASE("a response's body ends as its status and the request's method say") {
    HeadParser parser{test::max_head};
    const auto kind = [&parser](std::string_view head, std::string_view method) {
        return parser.parse_response(head, method).value().framing.kind;
    };
    constexpr std::string_view sized = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";

    CHECK(kind(sized, "GET") == Kind::length);
    CHECK(kind(sized, "HEAD") == Kind::none);
    CHECK(kind("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "GET") == Kind::none);
    CHECK(kind("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "GET") == Kind::none);
    CHECK(kind("HTTP/1.1 100 Continue\r\n\r\n", "GET") == Kind::none);
    CHECK(kind("HTTP/1.1 200 OK\r\n\r\n", "GET") == Kind::until_close);
    CHECK(kind("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "GET") == Kind::chunked);
}

TEST_CASE("every Connection field counts for keeping the connection") {
    HeadParser parser{test::max_head};
    const auto keeps = [&parser](const std::string& head) {
        return parser.parse_request(head).value().keep_alive;
    };

    CHECK(keeps(post("")));
    CHECK_FALSE(keeps(post("Connection: keep-alive\r\nConnection: Close\r\n")));
    CHECK_FALSE(keeps(post("Connection: te, close\r\n")));
    CHECK_FALSE(keeps(post("", "1.0")));
    CHECK(keeps(post("Connection: Keep-Alive\r\n", "1.0")));
    CHECK_FALSE(keeps(post("Proxy-Connection: keep-alive\r\n", "1.0")));
}

TEST_CASE("more connection options than anyone needs are refused") {
    std::string options = "Connection: a";
    for (int i = 0; i < 32; ++i)
        options += ",a";

    CHECK(test::refusal(post(options + "\r\n")) == 400);
}

TEST_CASE("a close-delimited response ends its connection") {
    HeadParser parser{test::max_head};

    CHECK_FALSE(parser.parse_response("HTTP/1.1 200 OK\r\n\r\n", "GET").value().keep_alive);
    CHECK(parser.parse_response("HTTP/1.1 200 OK\r\n\r\n", "HEAD").value().keep_alive);
}
