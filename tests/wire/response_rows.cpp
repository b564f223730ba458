// What upstreams answer, and what of it a client may be given.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

const std::string te = "Transfer-Encoding: chunked";
const std::string closing = "Connection: close";

// An answer that goes on as it came.
Row relayed(std::string name, std::string source, std::string answer) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = get,
        .upstream_saw = get,
        .client_got = answer,
        .answers = {answer}};
}
Row relayed_as(std::string name, std::string source, std::string answer, std::string got) {
    Row row = relayed(std::move(name), std::move(source), std::move(answer));
    row.client_got = std::move(got);
    return row;
}
// An answer that nobody can be given: the client's connection goes on, the upstream's does not.
Row broken(std::string name, std::string source, std::string answer) {
    return relayed_as(std::move(name), std::move(source), std::move(answer), "<502>");
}
Row answer_field(std::string name, std::string source, std::string_view field) {
    return broken(
        std::move(name), std::move(source),
        head("HTTP/1.1 200 OK", "Content-Length: 2", field) & "hi");
}

// These fields are not what the client gets, neither of an answer nor of one before it.
Row ends_here(std::string name, std::string source, std::string_view fields) {
    return relayed_as(
        std::move(name), std::move(source),
        head("HTTP/1.1 103 Early Hints", fields) &
            head("HTTP/1.1 200 OK", fields, "Content-Length: 2") & "hi",
        head("HTTP/1.1 103 Early Hints") & ok);
}

const Rows status_lines{
    relayed("a reason may be missing", "RFC 9112 4", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
    relayed("a reason is kept", "RFC 9112 4", head("HTTP/1.1 200 Fine by me", "Content-Length: 0")),
    relayed(
        "a status that is not known is kept",
        "RFC 9110 15",
        head("HTTP/1.1 299 Odd", "Content-Length: 0")),
    relayed(
        "an upstream's 429 is the client's to know",
        "RFC 6585 4",
        head("HTTP/1.1 429 Too Many Requests", "Retry-After: 7", "Content-Length: 0")),
    relayed_as(
        "an answer in HTTP/1.0 goes on in HTTP/1.1",
        "RFC 9112 2.3",
        head("HTTP/1.0 200 OK", "Content-Length: 2") & "hi",
        ok),
    broken("a status below 100", "RFC 9110 15", head("HTTP/1.1 099 X", "Content-Length: 0")),
    broken("a status above 599", "RFC 9110 15", head("HTTP/1.1 600 X", "Content-Length: 0")),
    broken("a status of four digits", "RFC 9112 4", head("HTTP/1.1 2000 OK", "Content-Length: 0")),
    broken("a status of two digits", "RFC 9112 4", head("HTTP/1.1 20 OK", "Content-Length: 0")),
    broken("a status in letters", "RFC 9112 4", head("HTTP/1.1 abc OK", "Content-Length: 0")),
    broken("no status", "RFC 9112 4", head("HTTP/1.1", "Content-Length: 0")),
    broken("no HTTP", "RFC 9112 4", "hello\r\n\r\n"),
    broken("HTTP/2 in a status line", "RFC 9112 2.3", head("HTTP/2 200 OK", "Content-Length: 0")),
    broken(
        "HTTP/1.2 in a status line", "RFC 9112 2.3", head("HTTP/1.2 200 OK", "Content-Length: 0")),
    broken("an empty line before the status line", "RFC 9112 2.2 (of requests only)", "\r\n" & ok),
    broken(
        "two blanks before the status",
        "RFC 9112 4",
        head("HTTP/1.1  200 OK", "Content-Length: 0")),
    broken(
        "a control character in the reason",
        "RFC 9112 4",
        head("HTTP/1.1 200 O\x01K", "Content-Length: 0")),
    broken("bare LFs as line ends", "RFC 9112 2.2", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
    broken("a request as an answer", "RFC 9112 4", get),
};

const Rows fields{
    answer_field("a bare LF in a field", "RFC 9112 2.2; 11.1", "X-A: b\nX-C: d"),
    answer_field("a bare CR in a field", "RFC 9112 2.2; 11.1", "X-A: b\rX-C: d"),
    answer_field("NUL in a field", "RFC 9110 5.5", std::string_view{"X-A: \0", 6}),
    answer_field("a control character in a field", "RFC 9110 5.5", "X-A: \x02"),
    answer_field(
        "a blank before a colon", "RFC 9112 5.1 (to be removed, or refused as here)", "X-A : b"),
    answer_field(
        "a folded field", "RFC 9112 5.2 (to be unfolded, or refused as here)", "X-A: b\r\n c"),
    answer_field("a field without a name", "RFC 9110 5.1", ": b"),
    answer_field("a field without a colon", "RFC 9112 5", "X-A"),
    broken(
        "a head larger than max_head",
        "RFC 9110 5.4",
        head("HTTP/1.1 200 OK", std::string{"X-A: "}.append(20'000, 'x'), "Content-Length: 0")),
    broken(
        "a bomb of fields",
        "RFC 9110 5.4",
        [] {
            std::string text = "HTTP/1.1 200 OK\r\n";
            for (int i = 0; i < 2'000; ++i)
                text.append("X: y\r\n");
            return text.append("Content-Length: 0\r\n\r\n");
        }()),
    relayed(
        "Set-Cookie fields stay apart and in order",
        "RFC 9110 5.3; RFC 6265 3",
        head("HTTP/1.1 200 OK", "Set-Cookie: a=1", "Set-Cookie: b=2", "Content-Length: 0")),
    relayed_as(
        "what Connection names ends here",
        "RFC 9110 7.6.1",
        head("HTTP/1.1 200 OK", "Connection: X-A", "X-A: b", "Content-Length: 2") & "hi",
        ok),
    relayed_as(
        "Connection does not name Content-Length away",
        "RFC 9110 7.6.1; RFC 9112 11.2",
        head("HTTP/1.1 200 OK", "Connection: Content-Length", "Content-Length: 2") & "hi",
        ok),
    relayed_as(
        "Keep-Alive ends here",
        "RFC 9110 7.6.1",
        head("HTTP/1.1 200 OK", "Keep-Alive: timeout=5", "Content-Length: 2") & "hi",
        ok),
    relayed_as(
        "Proxy-Authenticate ends here",
        "RFC 9110 11.7.1",
        head("HTTP/1.1 200 OK", "Proxy-Authenticate: Basic", "Content-Length: 2") & "hi",
        ok),
    relayed_as(
        "an Upgrade that nothing came of ends here",
        "RFC 9110 7.8",
        head("HTTP/1.1 200 OK", "Upgrade: h2c", "Content-Length: 2") & "hi",
        ok),
    relayed(
        "a 426 says what to upgrade to",
        "RFC 9110 15.5.22, 7.8",
        head(
            "HTTP/1.1 426 Upgrade Required",
            "Upgrade: TLS/1.3, websocket",
            "Content-Length: 0",
            "Connection: Upgrade")),
    relayed_as(
        "it does so whatever its Connection names",
        "RFC 9110 15.5.22, 7.8",
        head(
            "HTTP/1.1 426 Upgrade Required",
            "Connection: close, upgrade",
            "Upgrade: websocket",
            "Content-Length: 0"),
        head(
            "HTTP/1.1 426 Upgrade Required",
            "Upgrade: websocket",
            "Content-Length: 0",
            "Connection: Upgrade")),
    relayed(
        "a 426 that does not say it goes on as it is",
        "RFC 9110 15.5.22",
        head("HTTP/1.1 426 Upgrade Required", "Content-Length: 0")),
    ends_here("what Stint alone says ends here", "docs/operations.md", "X-Stint-Ticket: x"),
    ends_here("so does another of its names", "docs/operations.md", "x-stint-any: x"),
    ends_here("Expect is of requests", "RFC 9110 10.1.1", "Expect: 100-continue"),
    ends_here(
        "a framing field with an underscore ends here",
        "CGI, RFC 3875 4.1.18",
        "Content_Length: 9\r\nTransfer_Encoding: chunked"),
    ends_here(
        "so does one that imitates what ends here",
        "CGI, RFC 3875 4.1.18",
        "Keep_Alive: timeout=5\r\nX_Stint_Ticket: x\r\nProxy_Authenticate: Basic"),
    relayed(
        "other names with underscores go on",
        "RFC 9110 5.1",
        head("HTTP/1.1 200 OK", "X_A: b", "Content-Length: 0")),
    relayed_as(
        "an upstream that closes does not close the client's connection",
        "RFC 9110 7.6.1; RFC 9112 9.6",
        head("HTTP/1.1 200 OK", "Connection: close", "Content-Length: 2") & "hi",
        ok),
};

Row to_head(std::string name, std::string source, std::string answer, std::string got) {
    const std::string request = head("HEAD / HTTP/1.1", "Host: a");
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = request,
        .upstream_saw = request,
        .client_got = std::move(got),
        .answers = {std::move(answer)}};
}

const Rows without_body{
    to_head(
        "an answer to HEAD states a length and has no body",
        "RFC 9110 9.3.2, 8.6",
        head("HTTP/1.1 200 OK", "Content-Length: 5"),
        head("HTTP/1.1 200 OK", "Content-Length: 5")),
    to_head(
        "an answer to HEAD may lack a length",
        "RFC 9110 9.3.2",
        head("HTTP/1.1 200 OK"),
        head("HTTP/1.1 200 OK")),
    to_head(
        "a body behind an answer to HEAD reaches nobody",
        "RFC 9110 9.3.2; RFC 9112 6.3",
        head("HTTP/1.1 200 OK", "Content-Length: 2") & "hi",
        head("HTTP/1.1 200 OK", "Content-Length: 2")),
    relayed("204 has no body", "RFC 9110 15.3.5", head("HTTP/1.1 204 No Content")),
    relayed_as(
        "204 has no length",
        "RFC 9110 8.6",
        head("HTTP/1.1 204 No Content", "Content-Length: 0"),
        head("HTTP/1.1 204 No Content")),
    relayed_as(
        "a body behind 204 reaches nobody",
        "RFC 9110 15.3.5; RFC 9112 6.3",
        head("HTTP/1.1 204 No Content", "Content-Length: 2") & "hi",
        head("HTTP/1.1 204 No Content")),
    relayed(
        "304 states a length and has no body",
        "RFC 9110 15.4.5, 8.6",
        head("HTTP/1.1 304 Not Modified", "ETag: \"x\"", "Content-Length: 5")),
    relayed_as(
        "a body behind 304 reaches nobody",
        "RFC 9110 15.4.5; RFC 9112 6.3",
        head("HTTP/1.1 304 Not Modified", "Content-Length: 2") & "hi",
        head("HTTP/1.1 304 Not Modified", "Content-Length: 2")),
};

Row closed_after(Row row) {
    row.upstream_ends = Row::End::close;
    return row;
}
Row to_old(std::string name, std::string source, std::string answer, std::string got) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = head("GET / HTTP/1.0", "Host: a", "Connection: keep-alive"),
        .upstream_saw = head("GET / HTTP/1.1", "Host: a", "Via: 1.0 stint"),
        .client_got = std::move(got),
        .answers = {std::move(answer)},
        .http2 = no_old_version};
}

const Rows bodies{
    relayed_as(
        "a chunked answer is chunked anew",
        "RFC 9112 7.1",
        head("HTTP/1.1 200 OK", te) & "2;a=b\r\nhi\r\n0\r\n\r\n",
        head("HTTP/1.1 200 OK", te) & "hi<0>"),
    relayed_as(
        "trailers that nobody asked for end here",
        "RFC 9110 6.5.1",
        head("HTTP/1.1 200 OK", te) & "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n",
        head("HTTP/1.1 200 OK", te) & "hi<0>"),
    relayed_as(
        "a chunked answer may be empty",
        "RFC 9112 7.1",
        head("HTTP/1.1 200 OK", te) & "0\r\n\r\n",
        head("HTTP/1.1 200 OK", te) & "<0>"),
    closed_after(relayed_as(
        "an answer that ends with the connection is chunked",
        "RFC 9112 6.3, 7.1",
        head("HTTP/1.1 200 OK") & "hi",
        head("HTTP/1.1 200 OK", te) & "hi<0>")),
    closed_after(to_old(
        "for HTTP/1.0 it ends with the connection",
        "RFC 9112 6.3, 9.3",
        head("HTTP/1.1 200 OK") & "hi",
        head("HTTP/1.1 200 OK", closing) & "hi<end>")),
    to_old(
        "HTTP/1.0 is told what to upgrade to beside what becomes of its connection",
        "RFC 9110 15.5.22",
        head("HTTP/1.1 426 Upgrade Required", "Upgrade: websocket", "Content-Length: 0"),
        head(
            "HTTP/1.1 426 Upgrade Required",
            "Upgrade: websocket",
            "Content-Length: 0",
            "Connection: keep-alive, Upgrade")),
    to_old(
        "a chunked answer to HTTP/1.0 ends with the connection",
        "RFC 9112 6.1",
        head("HTTP/1.1 200 OK", te) & "2\r\nhi\r\n0\r\n\r\n",
        head("HTTP/1.1 200 OK", closing) & "hi<end>"),
    closed_after(relayed_as(
        "a body shorter than its length is no whole answer",
        "RFC 9112 8",
        head("HTTP/1.1 200 OK", "Content-Length: 5") & "hi",
        head("HTTP/1.1 200 OK", "Content-Length: 5") & "hi<cut><end>")),
    closed_after(relayed_as(
        "chunks without their end are no whole answer",
        "RFC 9112 8",
        head("HTTP/1.1 200 OK", te) & "2\r\nhi\r\n",
        head("HTTP/1.1 200 OK", te) & "hi<cut><end>")),
    {.name = "what stands behind an answer reaches nobody",
     .source = "RFC 9112 6.3, 9.2; response queue poisoning",
     .client = get & get,
     .upstream_saw = get & get,
     .client_got = ok & ok,
     .answers = {ok & head("HTTP/1.1 200 Evil", "Content-Length: 0")},
     .once = true}, // once another request is on its way, nobody can tell
    broken(
        "both framings in an answer",
        "RFC 9112 6.3, 11.2",
        head("HTTP/1.1 200 OK", te, "Content-Length: 2") & "2\r\nhi\r\n0\r\n\r\n"),
    broken(
        "two lengths in an answer",
        "RFC 9112 6.3",
        head("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 3") & "hi"),
    broken(
        "a length in an answer that is no number",
        "RFC 9112 6.3",
        head("HTTP/1.1 200 OK", "Content-Length: x") & "hi"),
    broken(
        "an unknown coding in an answer",
        "RFC 9112 6.1",
        head("HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked") & "0\r\n\r\n"),
    broken(
        "a coding in an answer of HTTP/1.0",
        "RFC 9112 6.1",
        head("HTTP/1.0 200 OK", te) & "2\r\nhi\r\n0\r\n\r\n"),
};

const Rows interim{
    relayed(
        "103 goes on before the answer",
        "RFC 8297 2; RFC 9110 15.2",
        head("HTTP/1.1 103 Early Hints", "Link: </a>") & ok),
    relayed("102 goes on before the answer", "RFC 9110 15.2", head("HTTP/1.1 102 Processing") & ok),
    relayed(
        "several go on before the answer",
        "RFC 9110 15.2",
        head("HTTP/1.1 103 Early Hints") & head("HTTP/1.1 103 Early Hints", "X-A: b") & ok),
    relayed_as(
        "100 that the client did not expect ends here",
        "RFC 9110 10.1.1, 15.2.1",
        head("HTTP/1.1 100 Continue") & ok,
        ok),
    relayed_as(
        "a length in an interim answer means nothing",
        "RFC 9110 8.6; RFC 9112 6.3",
        head("HTTP/1.1 103 Early Hints", "Content-Length: 5") & ok,
        head("HTTP/1.1 103 Early Hints") & ok),
    to_old(
        "HTTP/1.0 knows no interim answers",
        "RFC 9110 15.2",
        head("HTTP/1.1 103 Early Hints") & ok,
        head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: keep-alive") & "hi"),
    broken(
        "101 that nobody asked for",
        "RFC 9110 15.2.2, 7.8",
        head("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket")),
};

} // namespace

TEST_CASE("status lines") {
    play(status_lines);
}

TEST_CASE("fields of answers") {
    play(fields);
}

TEST_CASE("answers without a body") {
    play(without_body);
}

TEST_CASE("bodies of answers") {
    play(bodies);
}

TEST_CASE("interim answers") {
    play(interim);
}
