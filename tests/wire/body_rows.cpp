// Bodies of requests: expectations, sizes, pipelining, and answers that do not wait for them.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

const std::string te = "Transfer-Encoding: chunked";
const std::string expect = "Expect: 100-continue";
const std::string at_most_ten =
    "max_body: 10\nroutes: [{name: all, match: {path: /}, upstream: origin}]";
const std::string no_connection_left =
    head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: close");

const Rows expectations{
    {.name = "a client that expects it is told to go on, once it is admitted",
     .source = "RFC 9110 10.1.1",
     .client = post("", "Content-Length: 2", expect),
     .upstream_saw = post("hi", "Content-Length: 2"),
     .client_got = head("HTTP/1.1 100 Continue") & ok,
     .then = "hi"},
    {.name = "so is one with a chunked body",
     .source = "RFC 9110 10.1.1",
     .client = post("", te, expect),
     .upstream_saw = post("hi<0>", te),
     .client_got = head("HTTP/1.1 100 Continue") & ok,
     .then = "2\r\nhi\r\n0\r\n\r\n"},
    {.name = "a client that is refused is not told to go on",
     .source = "RFC 9110 10.1.1",
     .client = head("POST /closed HTTP/1.1", "Host: a", "Content-Length: 2", expect),
     .client_got = "<403 close><end>",
     .config = closed_route("path: /closed")},
    {.name = "nor is one whose body is larger than the route takes",
     .source = "RFC 9110 10.1.1, 15.5.14",
     .client = post("", "Content-Length: 11", expect),
     .client_got = "<413 close><end>",
     .config = at_most_ten},
    {.name = "an expectation's case does not matter",
     .source = "RFC 9110 10.1.1",
     .client = post("", "Content-Length: 2", "Expect: 100-Continue"),
     .upstream_saw = post("hi", "Content-Length: 2"),
     .client_got = head("HTTP/1.1 100 Continue") & ok,
     .then = "hi"},
    {.name = "another expectation is refused",
     .source = "RFC 9110 10.1.1, 15.5.18",
     .client = post("", "Content-Length: 0", "Expect: 200-ok"),
     .client_got = "<417 close><end>"},
    {.name = "an expectation of HTTP/1.0 is not heeded",
     .source = "RFC 9110 10.1.1",
     .client = head("POST / HTTP/1.0", "Host: a", "Content-Length: 2", expect) & "hi",
     .upstream_saw =
         head("POST / HTTP/1.1", "Host: a", "Content-Length: 2", "Via: 1.0 stint") & "hi",
     .client_got = no_connection_left & "hi<end>",
     .http2 = no_old_version},
};

const Rows sizes{
    {.name = "a body of max_body is taken",
     .source = "RFC 9110 15.5.14",
     .client = post("0123456789", "Content-Length: 10"),
     .upstream_saw = post("0123456789", "Content-Length: 10"),
     .client_got = ok,
     .config = at_most_ten},
    {.name = "a longer one is refused by its length",
     .source = "RFC 9110 15.5.14",
     .client = post("", "Content-Length: 11"),
     .client_got = "<413 close><end>",
     .config = at_most_ten},
    {.name = "a chunked body of max_body is taken",
     .source = "RFC 9110 15.5.14",
     .client = post("a\r\n0123456789\r\n0\r\n\r\n", te),
     .upstream_saw = post("0123456789<0>", te),
     .client_got = ok,
     .config = at_most_ten},
    {.name = "a longer one is refused when it becomes too long",
     .source = "RFC 9110 15.5.14",
     .client = post("6\r\n012345\r\n5\r\n6789a\r\n0\r\n\r\n", te),
     .client_got = "<413 close><end>",
     .config = at_most_ten,
     .may_begin = true},
    {.name = "a route's own max_body wins",
     .source = "docs/configuration.md",
     .client = post("0123456789a", "Content-Length: 11"),
     .upstream_saw = post("0123456789a", "Content-Length: 11"),
     .client_got = ok,
     .config = "max_body: 10\n"
               "routes: [{name: all, match: {path: /}, upstream: origin, max_body: 11}]"},
};

const Rows pipelined{
    {.name = "pipelined requests are answered in their order",
     .source = "RFC 9112 9.3.2",
     .client = get & head("GET /2 HTTP/1.1", "Host: a") & head("GET /3 HTTP/1.1", "Host: a"),
     .upstream_saw = get & head("GET /2 HTTP/1.1", "Host: a") & head("GET /3 HTTP/1.1", "Host: a"),
     .client_got = head("HTTP/1.1 200 OK", "Content-Length: 1") & "1" &
                   (head("HTTP/1.1 200 OK", "Content-Length: 1") & "2") &
                   (head("HTTP/1.1 200 OK", "Content-Length: 1") & "3"),
     .answers =
         {head("HTTP/1.1 200 OK", "Content-Length: 1") & "1",
          head("HTTP/1.1 200 OK", "Content-Length: 1") & "2",
          head("HTTP/1.1 200 OK", "Content-Length: 1") & "3"}},
    {.name = "nothing is served behind a request that closes",
     .source = "RFC 9112 9.6",
     .client = with("Connection: close") & get,
     .upstream_saw = get,
     .client_got = no_connection_left & "hi<end>",
     .http2 = only_http1("streams do not follow each other")},
    {.name = "close wins over keep-alive",
     .source = "RFC 9112 9.3",
     .client = with("Connection: keep-alive, close") & get,
     .upstream_saw = get,
     .client_got = no_connection_left & "hi<end>",
     .http2 = only_http1("streams do not follow each other")},
    {.name = "nothing is served behind a request that is malformed",
     .source = "RFC 9112 2.2, 11.2",
     .client = with("X-A : b") & get,
     .client_got = bad,
     .http2 = only_http1("streams do not follow each other")},
    {.name = "a request behind one that no route takes is served",
     .source = "RFC 9112 9.3.2",
     .client = head("GET /none HTTP/1.1", "Host: a") & head("GET /some HTTP/1.1", "Host: a"),
     .upstream_saw = head("GET /some HTTP/1.1", "Host: a"),
     .client_got = "<404>" & ok,
     .config = "routes: [{name: some, match: {path: /some}, upstream: origin}]"},
    {.name = "a client that has sent all and closes its side may be listening",
     .source = "RFC 9112 9.6; half_close: allow",
     .client = get,
     .upstream_saw = get,
     .client_got = ok & "<end>",
     .client_ends = Row::End::half_close,
     .half_close_allowed = true,
     .http2 = left_out("closing one side ends a connection of HTTP/2 (docs/http2.md)")},
    {.name = "a body that is cut off behind another request is noticed at once",
     .source = "RFC 9112 8; half_close: allow",
     .client = get & post("one", "Content-Length: 9"),
     .upstream_saw = get & post("one<cut>", "Content-Length: 9"),
     .client_got = ok & "<end>",
     .client_ends = Row::End::half_close,
     .half_close_allowed = true,
     .http2 = left_out("closing one side ends a connection of HTTP/2 (docs/http2.md)")},
    {.name = "a head that is cut off is told so",
     .source = "RFC 9112 8",
     .client = "GET / HTTP/1.1\r\nHost: a\r\n",
     .client_got = bad,
     .client_ends = Row::End::half_close,
     .half_close_allowed = true,
     .http2 = left_out("closing one side ends a connection of HTTP/2 (docs/http2.md)")},
};

const Rows refusals{
    {.name = "a refused request's small body is read, and the next request served",
     .source = "RFC 9112 9.3",
     .client = head("POST /closed HTTP/1.1", "Host: a", "Content-Length: 2") & "hi" & get,
     .upstream_saw = get,
     .client_got = "<403>" & ok,
     .config = closed_route("path: /closed")},
    {.name = "so is a chunked one",
     .source = "RFC 9112 9.3",
     .client = head("POST /closed HTTP/1.1", "Host: a", te) & "2\r\nhi\r\n0\r\n\r\n" & get,
     .upstream_saw = get,
     .client_got = "<403>" & ok,
     .config = closed_route("path: /closed")},
    {.name = "one that is too large to be read ends the connection",
     .source = "RFC 9112 9.3, 9.6",
     .client = head("POST /closed HTTP/1.1", "Host: a", "Content-Length: 70000") & "hi",
     .client_got = "<403 close><end>",
     .config = closed_route("path: /closed")},
    {.name = "an answer may come before the body's end",
     .source = "RFC 9110 7.5; RFC 9112 9.5",
     .client = post("h", "Content-Length: 2"),
     .upstream_saw = post("h<cut>", "Content-Length: 2"),
     .client_got =
         head("HTTP/1.1 413 Content Too Large", "Content-Length: 0", "Connection: close") & "<end>",
     .answers = {head("HTTP/1.1 413 Content Too Large", "Content-Length: 0")},
     .answered = Row::When::head,
     .once = true}, // else it may come before the body's beginning, too
    {.name = "a body that stops is answered 408",
     .source = "RFC 9110 15.5.9",
     .client = post("h", "Content-Length: 2"),
     .upstream_saw = post("h<cut>", "Content-Length: 2"),
     .client_got = "<408 close><end>",
     .passes = std::chrono::seconds{31}},
    {.name = "a head that stops is answered 408",
     .source = "RFC 9110 15.5.9",
     .client = "GET / HTTP/1.1\r\nHost: a",
     .client_got = "<408 close><end>",
     .passes = std::chrono::seconds{11},
     .http2 =
         {.why = "RFC 9113 4.3: no other frame may come meanwhile", .client_got = "<goaway><end>"}},
};

} // namespace

TEST_CASE("expectations") {
    play(expectations);
}

TEST_CASE("sizes of bodies") {
    play(sizes);
}

TEST_CASE("pipelining") {
    play(pipelined);
}

TEST_CASE("refused bodies and early answers") {
    play(refusals);
}
