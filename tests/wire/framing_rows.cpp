// Where a request ends: two readers that see it differently are how requests are smuggled.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

// Behind each refused message stands a whole request, which nobody may serve.
const std::string smuggled = head("GET /smuggled HTTP/1.1", "Host: a");
const std::string te = "Transfer-Encoding: chunked";
const std::string chunks = "2\r\nhi\r\n0\r\n\r\n";

template <class... Fields>
Row refused(std::string name, std::string source, std::string_view body, const Fields&... fields) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = post(body, fields...) & smuggled,
        .client_got = bad,
        .http2 = no_chunks};
}
Row unknown_coding(std::string name, std::string_view value) {
    Row row = refused(
        std::move(name), "RFC 9112 6.1; RFC 9110 15.6.2", chunks,
        std::string{"Transfer-Encoding: "}.append(value));
    row.client_got = "<501 close><end>";
    return row;
}

const Rows lengths{
    {.name = "a body of a known length is followed by the next request",
     .source = "RFC 9112 6.2, 6.3",
     .client = post("hi", "Content-Length: 2") & get,
     .upstream_saw = post("hi", "Content-Length: 2") & get,
     .client_got = ok & ok},
    {.name = "a length with leading zeros is written anew",
     .source = "RFC 9110 8.6",
     .client = post("hi", "Content-Length: 0002"),
     .upstream_saw = post("hi", "Content-Length: 2"),
     .client_got = ok},
    {.name = "a length of nothing is kept",
     .source = "RFC 9110 8.6",
     .client = post("", "Content-Length: 0"),
     .upstream_saw = post("", "Content-Length: 0"),
     .client_got = ok},
    {.name = "a request without a length has no body",
     .source = "RFC 9112 6.3",
     .client = post("") & get,
     .upstream_saw = post("") & get,
     .client_got = ok & ok,
     .http2 =
         {.why = "RFC 9110 8.6: HTTP/1.1 says so, where the end of a stream did",
          .upstream_saw = post("", "Content-Length: 0") & get}},
    {.name = "GET may have a body",
     .source = "RFC 9110 9.3.1",
     .client = with("Content-Length: 2") & "hi" & get,
     .upstream_saw = with("Content-Length: 2") & "hi" & get,
     .client_got = ok & ok},
    refused(
        "two lengths that differ", "RFC 9112 6.3", "hi", "Content-Length: 2", "Content-Length: 3"),
    refused(
        "two lengths that are equal",
        "RFC 9112 6.3 (may be merged; refused here)",
        "hi",
        "Content-Length: 2",
        "Content-Length: 2"),
    refused(
        "a list of equal lengths",
        "RFC 9112 6.3 (may be merged; refused here)",
        "hi",
        "Content-Length: 2, 2"),
    refused("a list of lengths that differ", "RFC 9112 6.3", "hi", "Content-Length: 2, 3"),
    refused("an empty length", "RFC 9110 8.6", "hi", "Content-Length:"),
    refused("a length with a plus", "RFC 9110 8.6", "hi", "Content-Length: +2"),
    refused("a length with a minus", "RFC 9110 8.6", "hi", "Content-Length: -2"),
    refused("a hexadecimal length", "RFC 9110 8.6", "hi", "Content-Length: 0x2"),
    refused("a length in letters", "RFC 9110 8.6", "hi", "Content-Length: a"),
    refused("a length with a fraction", "RFC 9110 8.6", "hi", "Content-Length: 2.0"),
    refused("a length with a blank in it", "RFC 9110 8.6", "hi", "Content-Length: 2 2"),
    refused("a length in quotation marks", "RFC 9110 8.6", "hi", "Content-Length: \"2\""),
    refused("a length above 64 bits", "RFC 9110 8.6", "hi", "Content-Length: 18446744073709551618"),
    refused("a length above 63 bits", "RFC 9110 8.6", "hi", "Content-Length: 9223372036854775808"),
    refused(
        "a length with a control character before it",
        "RFC 9110 5.5",
        "hi",
        "Content-Length: \x0b"
        "2"),
};

const Rows codings{
    {.name = "a chunked body is followed by the next request",
     .source = "RFC 9112 7.1",
     .client = post(chunks, te) & get,
     .upstream_saw = post("hi<0>", te) & get,
     .client_got = ok & ok},
    {.name = "the coding's case does not matter",
     .source = "RFC 9112 7",
     .client = post(chunks, "transfer-encoding: CHUNKED"),
     .upstream_saw = post("hi<0>", te),
     .client_got = ok},
    {.name = "GET may have a chunked body",
     .source = "RFC 9110 9.3.1",
     .client = with(te) & chunks,
     .upstream_saw = with(te) & "hi<0>",
     .client_got = ok},
    refused(
        "both framings, length first", "RFC 9112 6.1, 6.3, 11.2", chunks, "Content-Length: 2", te),
    refused(
        "both framings, coding first", "RFC 9112 6.1, 6.3, 11.2", chunks, te, "Content-Length: 2"),
    refused(
        "both framings, with an unknown coding",
        "RFC 9112 6.1, 6.3, 11.2",
        "hi",
        "Transfer-Encoding: gzip",
        "Content-Length: 2"),
    refused(
        "both framings, with an empty coding",
        "RFC 9112 6.1, 6.3, 11.2",
        "hi",
        "Transfer-Encoding:",
        "Content-Length: 2"),
    refused("an empty coding", "RFC 9112 6.1", chunks, "Transfer-Encoding:"),
    refused("chunked twice", "RFC 9112 6.1", chunks, "Transfer-Encoding: chunked, chunked"),
    refused("chunked in two fields", "RFC 9112 6.1", chunks, te, te),
    refused(
        "chunked is not the last", "RFC 9112 6.1, 6.3", chunks, "Transfer-Encoding: chunked, gzip"),
    refused(
        "chunked in a list with an empty element",
        "RFC 9110 5.6.1",
        chunks,
        "Transfer-Encoding: chunked,"),
    refused("chunked in quotation marks", "RFC 9112 7", chunks, "Transfer-Encoding: \"chunked\""),
    refused("chunked with a parameter", "RFC 9112 7.1", chunks, "Transfer-Encoding: chunked;a=b"),
    refused(
        "a control character before chunked",
        "RFC 9110 5.5",
        chunks,
        "Transfer-Encoding: \x0b"
        "chunked"),
    refused(
        "a blank before the colon of the coding",
        "RFC 9112 5.1",
        chunks,
        "Transfer-Encoding : chunked"),
    refused(
        "the coding on a folded line", "RFC 9112 5.2", chunks, "Transfer-Encoding:\r\n chunked"),
    unknown_coding("a coding that is not known", "gzip"),
    unknown_coding("a coding that is not known before chunked", "gzip, chunked"),
    unknown_coding("something like chunked", "xchunked"),
    unknown_coding("identity, which is no coding any more", "identity"),
    {.name = "a coding in HTTP/1.0",
     .source = "RFC 9112 6.1",
     .client = head("POST / HTTP/1.0", "Host: a", te) & chunks & smuggled,
     .client_got = bad,
     .http2 = no_old_version},
};

const Row::OverHttp2 malformed_trailers =
    left_out("RFC 9113 8.1 has them malformed: tests/system/test_http2_rfc.py");

// The body is refused as it comes: its head may have gone on before, a whole request never.
Row bad_chunk(std::string name, std::string source, std::string_view body) {
    Row row = refused(std::move(name), std::move(source), body, te);
    row.may_begin = true;
    return row;
}
Row good_chunk(std::string name, std::string source, std::string_view body) {
    return {
        .name = std::move(name),
        .source = std::move(source),
        .client = post(body, te) & get,
        .upstream_saw = post("hi<0>", te) & get,
        .client_got = ok & ok,
        .http2 = no_chunks};
}

const Rows chunk_rows{
    good_chunk("a size may have leading zeros", "RFC 9112 7.1", "0002\r\nhi\r\n0\r\n\r\n"),
    good_chunk("the last chunk may have several zeros", "RFC 9112 7.1", "2\r\nhi\r\n000\r\n\r\n"),
    good_chunk("chunks are one body", "RFC 9112 7.1", "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"),
    good_chunk("an extension ends here", "RFC 9112 7.1.1", "2;a=b\r\nhi\r\n0\r\n\r\n"),
    good_chunk(
        "an extension in quotation marks ends here",
        "RFC 9112 7.1.1",
        "2;a=\"b;c\"\r\nhi\r\n0;d\r\n\r\n"),
    good_chunk(
        "an extension may stand behind a blank", "RFC 9112 7.1.1 (BWS)", "2 ;a\r\nhi\r\n0\r\n\r\n"),
    with_http2(
        good_chunk(
            "trailers of a request end here", "RFC 9110 6.5.1", "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n"),
        {}),
    with_http2(
        good_chunk(
            "a framing field in the trailers ends here",
            "RFC 9110 6.5.1; RFC 9112 11.2",
            "2\r\nhi\r\n0\r\nContent-Length: 5\r\n\r\n"),
        malformed_trailers),
    with_http2(
        good_chunk(
            "a Host in the trailers ends here",
            "RFC 9110 6.5.1",
            "2\r\nhi\r\n0\r\nHost: b\r\nConnection: close\r\n\r\n"),
        malformed_trailers),
    {.name = "a size in capitals",
     .source = "RFC 9112 7.1",
     .client = post("A\r\n0123456789\r\n0\r\n\r\n", te),
     .upstream_saw = post("0123456789<0>", te),
     .client_got = ok,
     .http2 = no_chunks},
    bad_chunk("no size", "RFC 9112 7.1", "\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size that is no number", "RFC 9112 7.1", "x\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size with a plus", "RFC 9112 7.1", "+2\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size with a minus", "RFC 9112 7.1", "-2\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size with 0x", "RFC 9112 7.1", "0x2\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size behind a blank", "RFC 9112 7.1", " 2\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size before a blank and nothing", "RFC 9112 7.1.1", "2 \r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size with an underscore", "RFC 9112 7.1", "1_0\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size above 64 bits", "RFC 9112 7.1", "10000000000000002\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("a size of too many zeros", "RFC 9112 7.1", std::string(70, '0').append("2\r\nhi")),
    bad_chunk("a chunk longer than its size", "RFC 9112 7.1", "2\r\nhi!\r\n0\r\n\r\n"),
    bad_chunk("a chunk shorter than its size", "RFC 9112 7.1", "4\r\nhi\r\n0\r\n\r\n"),
    bad_chunk("bare LF behind a size", "RFC 9112 7.1, 2.2", "2\nhi\r\n0\r\n\r\n"),
    bad_chunk("bare CR behind a size", "RFC 9112 7.1, 2.2", "2\rhi\r\n0\r\n\r\n"),
    bad_chunk("bare LF behind a chunk", "RFC 9112 7.1", "2\r\nhi\n0\r\n\r\n"),
    bad_chunk("bare CR behind a chunk", "RFC 9112 7.1", "2\r\nhi\r0\r\n\r\n"),
    bad_chunk("bare LF in an extension", "RFC 9112 7.1.1, 2.2", "2;a\nhi\r\n0\r\n\r\n"),
    bad_chunk("bare CR in an extension", "RFC 9112 7.1.1, 2.2", "2;a\rb\r\nhi\r\n0\r\n\r\n"),
    bad_chunk(
        "bare LF in a quoted extension",
        "RFC 9112 7.1.1; RFC 9110 5.6.4",
        "2;a=\"\n\"\r\nhi\r\n0\r\n\r\n"),
    bad_chunk(
        "an extension longer than 4 KiB",
        "RFC 9112 7.1.1",
        std::string{"2;a="}.append(5'000, 'x').append("\r\nhi\r\n0\r\n\r\n")),
    bad_chunk("bare LF behind the last chunk", "RFC 9112 7.1", "2\r\nhi\r\n0\n\r\n"),
    bad_chunk("bare LF at the end", "RFC 9112 7.1", "2\r\nhi\r\n0\r\n\n"),
    bad_chunk(
        "junk instead of the last empty line", "RFC 9112 7.1.2", "2\r\nhi\r\n0\r\n: x\r\n\r\n"),
    bad_chunk("a trailer without a colon", "RFC 9112 7.1.2, 5", "2\r\nhi\r\n0\r\nX-A\r\n\r\n"),
    bad_chunk("a folded trailer", "RFC 9112 7.1.2, 5.2", "2\r\nhi\r\n0\r\nX-A: b\r\n c\r\n\r\n"),
    bad_chunk(
        "NUL in a trailer", "RFC 9110 5.5", std::string("2\r\nhi\r\n0\r\nX-A: \0\r\n\r\n", 20)),
    bad_chunk(
        "a blank before a trailer's colon", "RFC 9112 5.1", "2\r\nhi\r\n0\r\nX-A : b\r\n\r\n"),
    bad_chunk(
        "trailers longer than 8 KiB",
        "RFC 9110 5.4",
        std::string{"2\r\nhi\r\n0\r\nX-A: "}.append(9'000, 'x').append("\r\n\r\n")),
    {.name = "a body that is cut off reaches nobody as a whole",
     .source = "RFC 9112 8",
     .client = post("2\r\nhi\r\n", te),
     .client_ends = Row::End::close,
     .may_begin = true},
};

} // namespace

TEST_CASE("lengths") {
    play(lengths);
}

TEST_CASE("transfer codings") {
    play(codings);
}

TEST_CASE("chunks") {
    play(chunk_rows);
}
