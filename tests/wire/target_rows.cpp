// Targets and hosts: their forms, what is refused, and that no spelling leads around a limit.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

std::string line(std::string_view start) {
    return head(start, "Host: a");
}
std::string to(std::string_view target) {
    return line(std::string{"GET "}.append(target).append(" HTTP/1.1"));
}

Row goes_on(std::string name, std::string source, std::string_view target) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = to(target),
        .upstream_saw = to(target),
        .client_got = ok};
}
Row goes_on_as(
    std::string name, std::string source, std::string_view target, std::string_view seen) {
    Row row = goes_on(std::move(name), std::move(source), target);
    row.upstream_saw = to(seen);
    return row;
}
Row refused(std::string name, std::string source, std::string_view target) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = to(target),
        .client_got = bad};
}
// Every request of HTTP/2 says its scheme and its authority, which stands for Host.
const Row::OverHttp2 no_absolute_form = only_http1("RFC 9113 8.3.1: :authority stands for Host");

// By a gateway that takes absolute-form targets for whatever host.
const std::string routes_absolute_form =
    "absolute_form: route\nroutes: [{name: all, match: {path: /}, upstream: origin}]";
Row absolute(Row row) {
    row.config = routes_absolute_form;
    return row;
}
// By one with a route for a.example, one for what is below b.example, and one for any host.
Row among_hosts(std::string name, std::string_view start, std::string_view seen) {
    return {
        .name = std::move(name),
        .source = "RFC 9112 3.2.2; a reverse proxy is no forward proxy",
        .client = head(start, "Host: x"),
        .upstream_saw = std::string{seen},
        .client_got = seen.empty() ? "<421>" : ok,
        .config = "routes:\n"
                  "  - {name: a, match: {host: a.example, path: /}, upstream: origin}\n"
                  "  - {name: b, match: {host: '*.b.example', path: /in}, upstream: origin}\n"
                  "  - {name: all, match: {path: /}, upstream: origin}",
        .http2 = seen.empty() ? no_absolute_form : Row::OverHttp2{}};
}

const Rows forms{
    goes_on("a query goes on as it came", "RFC 9112 3.2.1", "/a?b=c&d=%2f%25?e"),
    goes_on("an empty query is kept", "RFC 9112 3.2.1; RFC 3986 6.2.3", "/a?"),
    goes_on("a colon in the first segment is data", "RFC 3986 3.3", "/a:b"),
    goes_on("sub-delimiters in a path are data", "RFC 3986 3.3", "/!$&'()*+,=:@"),
    absolute(goes_on_as(
        "an absolute-form target goes on in origin-form",
        "RFC 9112 3.2.2",
        "http://a/b?c",
        "/b?c")),
    {.name = "the authority of an absolute-form target wins over Host",
     .source = "RFC 9112 3.2.2",
     .client = head("GET http://b/c HTTP/1.1", "Host: a"),
     .upstream_saw = head("GET /c HTTP/1.1", "Host: b"),
     .client_got = ok,
     .config = routes_absolute_form},
    among_hosts(
        "an absolute-form target for a host that a route names goes on",
        "GET http://A.example:80/c HTTP/1.1",
        head("GET /c HTTP/1.1", "Host: A.example:80")),
    among_hosts(
        "so does one for a host below one that a route names",
        "GET http://x.b.example/c HTTP/1.1",
        head("GET /c HTTP/1.1", "Host: x.b.example")),
    among_hosts("one for another host is refused", "GET http://c.example/c HTTP/1.1", ""),
    among_hosts("so is https in the clear", "GET https://c.example/c HTTP/1.1", ""),
    among_hosts(
        "so is OPTIONS for a server that it is not", "OPTIONS http://c.example HTTP/1.1", ""),
    among_hosts("the host above a suffix is another one", "GET http://b.example/c HTTP/1.1", ""),
    among_hosts(
        "another host in Host goes where routes for any host take it",
        "GET /c HTTP/1.1",
        head("GET /c HTTP/1.1", "Host: x")),
    {.name = "an absolute-form target is refused where no route names a host at all",
     .source = "RFC 9112 3.2.2; a reverse proxy is no forward proxy",
     .client = head("GET http://a/c HTTP/1.1", "Host: a") & get,
     .upstream_saw = get,
     .client_got = "<421>" & ok,
     .http2 = no_absolute_form},
    {.name = "an absolute-form target does not replace a missing Host",
     .source = "RFC 9112 3.2",
     .client = head("GET http://b/c HTTP/1.1"),
     .client_got = bad,
     .http2 = no_absolute_form},
    absolute(goes_on_as(
        "an absolute-form target may lack a path",
        "RFC 9112 3.2.1; RFC 9110 4.2.3",
        "http://a",
        "/")),
    absolute(goes_on_as(
        "an absolute-form target may have a query alone", "RFC 3986 6.2.3", "http://a?b", "/?b")),
    absolute(goes_on_as("the scheme's case does not matter", "RFC 3986 3.1", "HTTP://a/b", "/b")),
    {.name = "OPTIONS with an absolute-form target without a path asks for the server",
     .source = "RFC 9112 3.2.4",
     .client = line("OPTIONS http://a HTTP/1.1"),
     .upstream_saw = line("OPTIONS * HTTP/1.1"),
     .client_got = ok,
     .config = routes_absolute_form},
    {.name = "asterisk-form is for OPTIONS",
     .source = "RFC 9112 3.2.4",
     .client = line("OPTIONS * HTTP/1.1"),
     .upstream_saw = line("OPTIONS * HTTP/1.1"),
     .client_got = ok},
    refused("asterisk-form is for OPTIONS only", "RFC 9112 3.2.4", "*"),
    refused("a target that is no form at all is refused", "RFC 9112 3.2", "a/b"),
    refused("authority-form is for CONNECT only", "RFC 9112 3.2.3", "a:80"),
    refused("another scheme is refused", "RFC 9112 3.2.2", "ftp://a/b"),
    refused("user information in a target is refused", "RFC 9110 4.2.4", "http://u:p@a/b"),
    with_http2(
        refused("an absolute-form target without a host is refused", "RFC 9110 4.2.1", "http:///b"),
        no_absolute_form),
    refused("a fragment is refused", "RFC 9112 3.2.1; RFC 3986 3.5", "/a#b"),
    refused("an empty target is refused", "RFC 9112 3.2", ""),
};

const Rows characters{
    refused("a backslash is refused", "RFC 3986 3.3", "/a\\b"),
    refused("an escaped backslash is refused", "servers on Windows read it as a slash", "/a%5Cb"),
    refused("an escaped backslash in lower case is refused", "RFC 3986 2.1", "/a%5cb"),
    refused("an escaped NUL is refused", "CWE-158", "/a%00"),
    refused("an escape cut short is refused", "RFC 3986 2.1", "/a%2"),
    refused("a lone per cent is refused", "RFC 3986 2.1", "/a%"),
    refused("an escape that is not hexadecimal is refused", "RFC 3986 2.1", "/a%zz"),
    refused("a quotation mark is refused", "RFC 3986 2", "/a\"b"),
    refused("angle brackets are refused", "RFC 3986 2", "/a<b>"),
    refused("bytes above ASCII are refused", "RFC 3986 2", "/\xc3\xa4"),
    refused("a control character is refused", "RFC 3986 2", "/a\x01"),
    refused("DEL is refused", "RFC 3986 2", "/a\x7f"),
    goes_on("escapes of UTF-8 go on", "RFC 3986 2.5", "/%C3%A4"),
    goes_on("an escaped blank goes on", "RFC 3986 2.1", "/a%20b"),
    goes_on("an escaped question mark is data", "RFC 3986 2.2", "/a%3Fb"),
};

Row closed(std::string name, std::string source, std::string_view target) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = to(target),
        .client_got = "<403>",
        .config = closed_route("path: /closed")};
}
Row ambiguous(std::string name, std::string source, std::string_view target) {
    Row row = closed(std::move(name), std::move(source), target);
    row.client_got = bad;
    return row;
}
Row open(std::string name, std::string source, std::string_view target, std::string_view seen) {
    Row row = closed(std::move(name), std::move(source), target);
    row.upstream_saw = to(seen);
    row.client_got = ok;
    return row;
}
Row ambiguous_mark(std::string name, std::string_view target) {
    Row row = ambiguous(std::move(name), "RFC 3986 2.2, 3.3; many servers decode it", target);
    row.config = closed_route("path: \"/a:b\"");
    return row;
}

const Rows paths{
    closed("a limited path is limited", "routing", "/closed/x?q"),
    closed("escapes of letters lead nowhere else", "RFC 3986 6.2.2.2", "/%63losed"),
    closed("the escapes' case does not matter", "RFC 3986 6.2.2.1", "/%63%6Cosed"),
    closed("dot segments lead nowhere else", "RFC 3986 5.2.4", "/x/../closed"),
    closed("a single dot leads nowhere else", "RFC 3986 5.2.4", "/./closed"),
    closed("escaped dots are dots", "RFC 3986 6.2.2.2", "/x/%2e%2E/closed"),
    closed("two slashes are one", "merge_slashes", "//closed"),
    closed("many slashes are one", "merge_slashes", "/.//.///closed//x"),
    {.name = "an absolute-form target leads nowhere else",
     .source = "RFC 9112 3.2.2",
     .client = to("http://a/closed"),
     .client_got = "<403>",
     .config = "absolute_form: route\n" & closed_route("path: /closed")},
    closed("a slash behind it leads nowhere else", "routing", "/closed/"),
    open("a prefix ends where a segment ends", "routing", "/closedx", "/closedx"),
    open("letters' case is data", "RFC 3986 6.2.2.1", "/CLOSED", "/CLOSED"),
    open("what dots lead out of is not served", "RFC 3986 5.2.4", "/closed/../x", "/x"),
    open("dots at the end leave a slash", "RFC 3986 5.2.4", "/x/closed/..", "/x/"),
    open(
        "a query survives the removal of dots",
        "RFC 3986 5.2.4",
        "/y/../x?a=../closed",
        "/x?a=../closed"),
    open(
        "two slashes at the start are not taken for an authority",
        "RFC 3986 3.3, 4.2",
        "//x/y",
        "/x/y"),
    ambiguous(
        "an escaped slash that would change the route is refused", "RFC 3986 2.2", "/closed%2Fx"),
    ambiguous(
        "an escaped slash before dots that would change the route is refused",
        "RFC 3986 2.2, 5.2.4",
        "/x%2F..%2Fclosed"),
    ambiguous(
        "an escaped slash out of a limited path is refused", "RFC 3986 2.2", "/closed/..%2Fx"),
    open("an escaped slash that changes nothing is data", "RFC 3986 2.2", "/x/a%2Fb", "/x/a%2Fb"),
    open("its case is kept", "RFC 3986 2.2", "/x/a%2fb", "/x/a%2fb"),
    ambiguous(
        "a path parameter that would hide a route is refused",
        "RFC 3986 3.3; servlet containers cut it",
        "/closed;x=1"),
    ambiguous(
        "dots with a parameter that would change the route are refused",
        "RFC 3986 3.3; servlet containers cut it",
        "/x/..;/closed"),
    open("a path parameter that changes nothing is data", "RFC 3986 3.3", "/x;a=1/y", "/x;a=1/y"),
    ambiguous_mark("an escaped mark that would hide a route is refused", "/a%3Ab"),
    ambiguous_mark("so is one in front of a limited prefix", "/a%3ab/c"),
    ambiguous_mark("so is one behind an escaped slash", "/x%2F..%2Fa%3Ab"),
    open("an escaped mark that changes nothing is data", "RFC 3986 2.2", "/x%3a%28", "/x%3a%28"),
    ambiguous("a path that climbs above its root is refused", "RFC 3986 5.2.4", "/../closed"),
    ambiguous("so is one that does so with escapes", "RFC 3986 5.2.4", "/x/%2e%2e/%2e%2e/closed"),
};

Row host_refused(std::string name, std::string source, std::string_view host) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = head("GET / HTTP/1.1", std::string{"Host: "}.append(host)),
        .client_got = bad};
}
Row host_closed(std::string name, std::string source, std::string_view host) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = head("GET / HTTP/1.1", std::string{"Host: "}.append(host)),
        .client_got = "<403>",
        .config = closed_route("host: shop.example")};
}

const Rows hosts{
    {.name = "a request without Host is refused",
     .source = "RFC 9112 3.2",
     .client = head("GET / HTTP/1.1"),
     .client_got = bad},
    {.name = "so is HEAD, without a body",
     .source = "RFC 9112 3.2; RFC 9110 9.3.2",
     .client = head("HEAD / HTTP/1.1"),
     .client_got = bad},
    {.name = "an HTTP/1.0 request may lack it",
     .source = "RFC 9112 3.2, appendix C.2.1",
     .client = head("GET / HTTP/1.0"),
     .upstream_saw = head("GET / HTTP/1.1", "Host: {endpoint}", "Via: 1.0 stint"),
     .client_got = head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: close") & "hi<end>",
     .http2 = no_old_version},
    {.name = "its body goes with it",
     .source = "RFC 9112 3.2, appendix C.2.1",
     .client = head("POST / HTTP/1.0", "Content-Length: 2") & "hi",
     .upstream_saw =
         head("POST / HTTP/1.1", "Host: {endpoint}", "Content-Length: 2", "Via: 1.0 stint") & "hi",
     .client_got = head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: close") & "hi<end>",
     .http2 = no_old_version},
    {.name = "so may one that says nothing in it",
     .source = "RFC 9110 7.2",
     .client = head("GET / HTTP/1.1", "Host:"),
     .upstream_saw = head("GET / HTTP/1.1", "Host: {endpoint}"),
     .client_got = ok,
     .http2 = refused_with("<reset>", "RFC 9113 8.3.1: an authority is not empty")},
    {.name = "what the upstream's host is set to stands for it, too",
     .source = "docs/configuration.md",
     .client = head("GET / HTTP/1.0"),
     .upstream_saw = head("GET / HTTP/1.1", "Host: own.example", "Via: 1.0 stint"),
     .client_got = head("HTTP/1.1 200 OK", "Content-Length: 2", "Connection: close") & "hi<end>",
     .config = "routes: [{name: all, match: {path: /}, upstream: origin, host: own.example}]",
     .http2 = no_old_version},
    {.name = "two Hosts are refused",
     .source = "RFC 9112 3.2",
     .client = with("Host: b"),
     .client_got = bad},
    {.name = "two equal Hosts are refused",
     .source = "RFC 9112 3.2",
     .client = with("Host: a"),
     .client_got = bad},
    {.name = "two Hosts are refused of HTTP/1.0, too",
     .source = "RFC 9112 3.2",
     .client = head("GET / HTTP/1.0", "Host: a", "Host: b"),
     .client_got = bad,
     .http2 = no_old_version},
    host_refused("a blank in Host is refused", "RFC 9110 7.2", "a b"),
    host_refused("a path in Host is refused", "RFC 9110 7.2", "a/b"),
    host_refused("user information in Host is refused", "RFC 9110 7.2", "u@a"),
    host_refused("a list in Host is refused", "RFC 9110 7.2, 5.3", "a, b"),
    host_refused("a port that is no number is refused", "RFC 3986 3.2.3", "a:http"),
    host_refused("a port above 65535 is refused", "RFC 3986 3.2.3; RFC 9293 3.1", "a:65536"),
    host_refused("port 0 is refused", "RFC 6335 6 (reserved)", "a:0"),
    host_refused("two ports are refused", "RFC 3986 3.2", "a:1:2"),
    host_refused("an IPv6 address without brackets is refused", "RFC 3986 3.2.2", "::1"),
    host_refused("brackets that do not close are refused", "RFC 3986 3.2.2", "[::1"),
    host_refused("what is no address in brackets is refused", "RFC 3986 3.2.2", "[1:2]"),
    host_refused("an empty label is refused", "RFC 1034 3.1", "a..b"),
    host_refused("a leading dot is refused", "RFC 1034 3.1", ".a"),
    host_refused("an escape in a host is refused", "RFC 3986 3.2.2; no DNS name has one", "%61"),
    host_refused("a host with a wildcard is refused", "RFC 1034 3.1", "*.a"),
    {.name = "an IPv6 address in brackets, with a port",
     .source = "RFC 3986 3.2.2",
     .client = head("GET / HTTP/1.1", "Host: [::1]:8080"),
     .upstream_saw = head("GET / HTTP/1.1", "Host: [::1]:8080"),
     .client_got = ok},
    host_closed("a limited host is limited", "routing", "shop.example"),
    host_closed("a host's case leads nowhere else", "RFC 9110 4.2.3", "SHOP.Example"),
    host_closed("a port leads nowhere else", "routing", "shop.example:8080"),
    host_closed("an empty port leads nowhere else", "RFC 3986 6.2.3", "shop.example:"),
    host_closed("a trailing dot leads nowhere else", "RFC 1034 3.1", "shop.example."),
    host_closed("all of that together leads nowhere else", "RFC 9110 4.2.3", "Shop.example.:80"),
    {.name = "an absolute-form target's host leads nowhere else",
     .source = "RFC 9112 3.2.2",
     .client = head("GET http://SHOP.example/ HTTP/1.1", "Host: a"),
     .client_got = "<403>",
     .config = closed_route("host: shop.example")},
    {.name = "an IPv6 address is known in any spelling",
     .source = "RFC 5952 2",
     .client = head("GET / HTTP/1.1", "Host: [2001:DB8:0:0::1]"),
     .client_got = "<403>",
     .config = closed_route("host: \"[2001:db8::1]\"")},
};

} // namespace

TEST_CASE("forms of targets") {
    play(forms);
}

TEST_CASE("characters of targets") {
    play(characters);
}

TEST_CASE("paths") {
    play(paths);
}

TEST_CASE("hosts") {
    play(hosts);
}
