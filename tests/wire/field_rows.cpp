// Fields: their syntax, and which of them end here, are written anew or go on.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

Row refused(std::string name, std::string source, std::string_view field) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = with(field),
        .client_got = bad};
}
// None of these fields is what the upstream sees.
template <class... Fields>
Row ends_here(std::string name, std::string source, const Fields&... fields) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = with(fields...),
        .upstream_saw = get,
        .client_got = ok};
}
template <class... Fields>
Row goes_on(std::string name, std::string source, const Fields&... fields) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = with(fields...),
        .upstream_saw = with(fields...),
        .client_got = ok};
}
Row goes_on_as(
    std::string name, std::string source, std::string_view field, std::string_view seen) {
    Row row = goes_on(std::move(name), std::move(source), field);
    row.upstream_saw = with(seen);
    return row;
}

std::string many(std::size_t count) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 0; i < count; ++i)
        text.append("X: y\r\n");
    return text.append("\r\n");
}

const Rows syntax{
    refused("a blank before the colon is refused", "RFC 9112 5.1", "X-A : b"),
    refused("a tab before the colon is refused", "RFC 9112 5.1", "X-A\t: b"),
    with_http2(
        refused("a field without a colon is refused", "RFC 9112 5", "X-A"),
        only_http1("HTTP/2 has no colons")),
    refused("a field without a name is refused", "RFC 9110 5.1", ": b"),
    refused("a name is a token: no bracket", "RFC 9110 5.1, 5.6.2", "X(A: b"),
    refused("a name is a token: no blank", "RFC 9110 5.1, 5.6.2", "X A: b"),
    refused("a name is a token: no bytes above ASCII", "RFC 9110 5.1, 5.6.2", "X\xc3\xa4: b"),
    refused("a name is a token: no NUL", "RFC 9110 5.1, 5.6.2", std::string_view{"X\0A: b", 6}),
    refused("a name is a token: no quotation mark", "RFC 9110 5.1, 5.6.2", "\"X\": b"),
    refused("a folded line is refused", "RFC 9112 5.2", "X-A: b\r\n c"),
    refused("a line folded with a tab is refused", "RFC 9112 5.2", "X-A: b\r\n\tc"),
    refused("a fold that is empty is refused", "RFC 9112 5.2", "X-A: b\r\n "),
    refused("a fold before the value is refused", "RFC 9112 5.2", "X-A:\r\n b"),
    {.name = "a blank before the first field is refused",
     .source = "RFC 9112 2.2",
     .client = head("GET / HTTP/1.1", " X-A: b", "Host: a"),
     .client_got = bad,
     .http2 = only_http1("HTTP/2 has no lines")},
    refused("a bare CR in a value is refused", "RFC 9112 2.2; RFC 9110 5.5", "X-A: b\rc"),
    refused("a bare CR before the line's end is refused", "RFC 9112 2.2", "X-A: b\r"),
    refused("a bare LF in a value is refused", "RFC 9112 2.2; RFC 9110 5.5", "X-A: b\nX-C: d"),
    refused("NUL in a value is refused", "RFC 9110 5.5", std::string_view{"X-A: b\0c", 8}),
    refused("a control character in a value is refused", "RFC 9110 5.5", "X-A: b\x01"),
    refused("DEL in a value is refused", "RFC 9110 5.5", "X-A: b\x7f"),
    refused("vertical tab around a value is refused", "RFC 9110 5.5, 5.6.3", "X-A: \vb"),
    goes_on_as("blanks around a value are not of it", "RFC 9112 5.1", "X-A: \t b \t", "X-A: b"),
    goes_on_as("no blank is needed before a value", "RFC 9112 5", "X-A:b", "X-A: b"),
    goes_on("a tab within a value is kept", "RFC 9110 5.5", "X-A: b\tc"),
    goes_on("bytes above ASCII in a value are kept", "RFC 9110 5.5", "X-A: \xc3\xa4\xff"),
    goes_on("an empty value is kept", "RFC 9110 5.5", "X-A: "),
    goes_on("a name may be of all a token's characters", "RFC 9110 5.6.2", "!#$%&'*+-.^_`|~0aZ: b"),
    goes_on("a name's case is kept", "RFC 9110 5.1", "x-MiXeD: b"),
    goes_on(
        "fields of one name are kept, and their order",
        "RFC 9110 5.3",
        "X-A: 1",
        "X-B: 2",
        "X-A: 3"),
    {.name = "127 fields beside Host are served",
     .source = "RFC 9110 5.4",
     .client = many(127),
     .upstream_saw = many(127),
     .client_got = ok},
    {.name = "more than max_fields are refused",
     .source = "RFC 9110 5.4; RFC 6585 5",
     .client = many(128),
     .client_got = "<431 close><end>"},
    {.name = "a head longer than max_head is refused",
     .source = "RFC 9110 5.4; RFC 6585 5",
     .client = with(std::string{"X-A: "}.append(17'000, 'x')),
     .client_got = "<431 close><end>"},
    {.name = "a target longer than max_target is refused",
     .source = "RFC 9112 3; RFC 9110 15.5.15",
     .client = head(std::string{"GET /"}.append(9'000, 'x').append(" HTTP/1.1"), "Host: a"),
     .client_got = "<414 close><end>"},
};

const Rows hop_by_hop{
    with_http2(
        ends_here("Connection ends here", "RFC 9110 7.6.1", "Connection: keep-alive"),
        malformed_in_http2),
    with_http2(
        ends_here("what Connection names ends here", "RFC 9110 7.6.1", "Connection: X-A", "X-A: b"),
        malformed_in_http2),
    with_http2(
        ends_here("whatever its case", "RFC 9110 7.6.1", "connection: x-a", "X-A: b"),
        malformed_in_http2),
    with_http2(
        ends_here("also before Connection", "RFC 9110 7.6.1", "X-A: b", "Connection: X-A"),
        malformed_in_http2),
    with_http2(
        ends_here(
            "what any Connection field names ends here",
            "RFC 9110 7.6.1",
            "Connection: X-A",
            "Connection: ,, X-B ,",
            "X-A: b",
            "X-B: c"),
        malformed_in_http2),
    with_http2(
        ends_here("Keep-Alive ends here", "RFC 9110 7.6.1", "Keep-Alive: timeout=5"),
        malformed_in_http2),
    with_http2(
        ends_here("Proxy-Connection ends here", "RFC 9110 7.6.1", "Proxy-Connection: keep-alive"),
        malformed_in_http2),
    ends_here("Proxy-Authorization ends here", "RFC 9110 11.7.2", "Proxy-Authorization: Basic YQ"),
    ends_here("Proxy-Authenticate ends here", "RFC 9110 11.7.1", "Proxy-Authenticate: Basic"),
    ends_here("Proxy ends here", "CVE-2016-5385 (httpoxy)", "Proxy: http://evil"),
    ends_here("any Proxy- field ends here", "RFC 9110 7.6.1", "Proxy-Features: x"),
    with_http2(
        ends_here(
            "TE that asks for no trailers ends here",
            "RFC 9110 10.1.4",
            "TE: gzip",
            "Connection: TE"),
        malformed_in_http2),
    ends_here("Trailer ends here", "RFC 9110 6.6.2", "Trailer: X-Sum"),
    with_http2(
        ends_here(
            "Upgrade to HTTP/2 ends here",
            "RFC 9113 3.1",
            "Upgrade: h2c",
            "Connection: Upgrade, HTTP2-Settings",
            "HTTP2-Settings: AAMAAABkAAQ"),
        malformed_in_http2),
    with_http2(
        ends_here(
            "Upgrade that Connection does not name ends here",
            "RFC 9110 7.8",
            "Upgrade: websocket"),
        malformed_in_http2),
    ends_here(
        "Expect of a request without a body ends here", "RFC 9110 10.1.1", "Expect: 100-continue"),
    {.name = "Connection does not name Host away",
     .source = "RFC 9110 7.6.1, 7.2",
     .client = with("Connection: Host"),
     .upstream_saw = get,
     .client_got = ok,
     .http2 = malformed_in_http2},
    {.name = "Connection does not name Content-Length away",
     .source = "RFC 9110 7.6.1; RFC 9112 11.2",
     .client = post("hi", "Content-Length: 2", "Connection: Content-Length"),
     .upstream_saw = post("hi", "Content-Length: 2"),
     .client_got = ok,
     .http2 = malformed_in_http2},
    {.name = "Connection does not name Transfer-Encoding away",
     .source = "RFC 9110 7.6.1; RFC 9112 11.2",
     .client = post(
         "2\r\nhi\r\n0\r\n\r\n", "Transfer-Encoding: chunked", "Connection: Transfer-Encoding"),
     .upstream_saw = post("hi<0>", "Transfer-Encoding: chunked"),
     .client_got = ok,
     .http2 = malformed_in_http2},
    with_http2(
        goes_on_as(
            "Connection does not name Cookie away",
            "who is counted is who is served",
            "Connection: Cookie\r\nCookie: a=b",
            "Cookie: a=b"),
        malformed_in_http2),
    with_http2(
        goes_on_as(
            "Connection does not name Authorization away",
            "who is counted is who is served",
            "Connection: authorization\r\nAuthorization: Bearer x",
            "Authorization: Bearer x"),
        malformed_in_http2),
    {.name = "Connection does not name a limit's key away",
     .source = "who is counted is who is served",
     .client = with("X-Api-Key: k", "Connection: X-Api-Key"),
     .upstream_saw = with("X-Api-Key: k"),
     .client_got = ok,
     .config = "limits: {by_key: {requests: 1000000, per: 1s, key: \"header:X-Api-Key\"}}\n"
               "routes: [{name: all, match: {path: /}, upstream: origin, limits: [by_key]}]",
     .http2 = malformed_in_http2},
    {.name = "Connection with more options than anybody needs is refused",
     .source = "RFC 9110 5.4",
     .client = with([] {
         std::string text = "Connection: a";
         for (int i = 0; i < 40; ++i)
             text.append(", a");
         return text;
     }()),
     .client_got = bad},
};

std::string usual(std::string_view host) {
    return std::string{
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: "}
        .append(host)
        .append("\r\nX-Request-Id: {id}\r\nVia: 1.1 stint");
}
template <class... Fields>
Row hops(std::string name, std::string source, const Fields&... fields) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = with(fields...),
        .upstream_saw = with(usual("a")),
        .client_got = ok,
        .whole_hops = true};
}
// The peer is a trusted proxy.
Row trusted(std::string name, std::string source, std::string fields, std::string_view seen) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = with(fields),
        .upstream_saw = with(seen),
        .client_got = ok,
        .config = "trusted_proxies: [127.0.0.1]\n"
                  "routes: [{name: all, match: {path: /}, upstream: origin}]",
        .whole_hops = true};
}

// With these as trusted_fields, of a stranger.
Row listed(std::string name, std::string_view list, std::string fields, std::string_view seen) {
    Row row = goes_on_as(std::move(name), "docs/configuration.md", fields, seen);
    row.config = std::string{"trusted_fields: "}.append(list).append(
        "\nroutes: [{name: all, match: {path: /}, upstream: origin}]");
    return row;
}

const Rows forwarding{
    hops("who the client is, how it came and what it asked for are told", "de facto"),
    hops("a stranger's X-Forwarded-For is replaced", "RFC 7239 8.1", "X-Forwarded-For: 1.2.3.4"),
    hops(
        "so are its X-Forwarded-Host and -Proto",
        "RFC 7239 8.1",
        "X-Forwarded-Host: evil",
        "X-Forwarded-Proto: https"),
    hops("so is its Forwarded", "RFC 7239 8.1", "Forwarded: for=1.2.3.4"),
    hops(
        "a name with underscores is not taken for one with dashes",
        "CGI, RFC 3875 4.1.18",
        "X_Forwarded_For: 1.2.3.4",
        "X-Forwarded_Host: evil"),
    hops(
        "nor is one of a framing field",
        "CGI, RFC 3875 4.1.18",
        "Content_Length: 5",
        "Transfer_Encoding: chunked"),
    hops(
        "nor do others of that family reach the upstream",
        "de facto: who is believed about the client",
        "X-Forwarded-Port: 1",
        "X-Forwarded-Prefix: /admin",
        "x-forwarded-ssl: on",
        "X-Forwarded-Server: s",
        "X-Forwarded: for=1.2.3.4"),
    hops(
        "nor what other servers take for the client's address",
        "de facto: who is believed about the client",
        "X-Real-IP: 1.2.3.4",
        "TRUE-CLIENT-IP: 1.2.3.4",
        "CF-Connecting-IP: 1.2.3.4",
        "X-Original-URL: /admin"),
    hops(
        "nor what imitates that with underscores",
        "CGI, RFC 3875 4.1.18",
        "X_Real_IP: 1.2.3.4",
        "X_Forwarded_Port: 1",
        "True_Client-IP: 1.2.3.4"),
    goes_on(
        "what only begins, or ends, like that goes on",
        "docs/configuration.md",
        "X-Real-IPs: 1.2.3.4",
        "X-Real-I: 1",
        "X-Forward: 1",
        "Not-X-Real-IP: 1"),
    listed(
        "which they are is the configuration's to say",
        "[X-Own-*, X-Mine]",
        "X-Own-A: 1\r\nX-Mine: 2\r\nX-Real-IP: 1.2.3.4\r\nX-Mined: 3\r\nX_OWN_b: 4",
        "X-Real-IP: 1.2.3.4\r\nX-Mined: 3"),
    listed(
        "none are listed, and all but what is replaced goes on",
        "[]",
        "X-Real-IP: 1.2.3.4\r\nX-Forwarded-Port: 1\r\nX-Forwarded-For: 1.2.3.4",
        "X-Real-IP: 1.2.3.4\r\nX-Forwarded-Port: 1"),
    trusted(
        "a trusted proxy is believed in all of that",
        "RFC 7239 8.1",
        "X-Forwarded-Port: 1\r\nX-Real-IP: 1.2.3.4\r\nTrue-Client-IP: 1.2.3.4",
        "X-Forwarded-Port: 1\r\nX-Real-IP: 1.2.3.4\r\nTrue-Client-IP: 1.2.3.4\r\n" + usual("a")),
    hops("X-Stint-Ticket ends here", "docs/limits.md", "X-Stint-Ticket: x"),
    hops("so does X-Stint-Permit", "docs/permits.md", "X-Stint-Permit: x"),
    hops("and whatever else begins so", "docs/operations.md", "X-Stint-Any: x"),
    hops("a malformed X-Request-Id is replaced", "docs/operations.md", "X-Request-Id: a b"),
    {.name = "Via is appended to",
     .source = "RFC 9110 7.6.3",
     .client = with("Via: 1.0 fred", "Via: 1.1 p.example"),
     .upstream_saw = with("Via: 1.0 fred, 1.1 p.example, 1.1 stint"),
     .client_got = ok},
    trusted(
        "a trusted proxy's X-Forwarded-For is appended to",
        "RFC 7239 8.1",
        "X-Forwarded-For: 1.2.3.4",
        "X-Forwarded-For: 1.2.3.4, 127.0.0.1\r\nX-Forwarded-Proto: http\r\n"
        "X-Forwarded-Host: a\r\nX-Request-Id: {id}\r\nVia: 1.1 stint"),
    trusted(
        "its X-Forwarded-Proto and -Host are kept",
        "RFC 7239 8.1",
        "X-Forwarded-Proto: https\r\nX-Forwarded-Host: shop",
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n"
        "X-Forwarded-Host: shop\r\nX-Request-Id: {id}\r\nVia: 1.1 stint"),
    trusted(
        "its Forwarded is appended to",
        "RFC 7239 4",
        "Forwarded: for=1.2.3.4",
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n"
        "Forwarded: for=1.2.3.4, for=127.0.0.1\r\nX-Request-Id: {id}\r\nVia: 1.1 stint"),
    goes_on(
        "traceparent and tracestate go on",
        "W3C Trace Context 3.2, 3.3",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate: rojo=00f067aa0ba902b7"),
    goes_on("Authorization goes on", "RFC 9110 11.6.2", "Authorization: Bearer x"),
    with_http2(
        goes_on("Cookies go on in their order", "RFC 6265 5.4", "Cookie: a=1", "Cookie: b=2"),
        {.why = "RFC 9113 8.2.3", .upstream_saw = with("Cookie: a=1; b=2")}),
    goes_on("conditions go on", "RFC 9110 13.1", "If-None-Match: \"x\"", "Range: bytes=0-1"),
};

} // namespace

TEST_CASE("syntax of fields") {
    play(syntax);
}

TEST_CASE("fields of one connection") {
    play(hop_by_hop);
}

TEST_CASE("fields that tell of the way") {
    play(forwarding);
}
