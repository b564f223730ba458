// Reads what listeners offer of HTTP/2.
#include "config/fields/http2_rows.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace stint::config {

namespace {

using Http2Row = Fields<Http2Bounds>;
constexpr std::uint32_t most_http2_streams = 1000;
constexpr std::uint32_t most_http2_requests = 1'000'000'000;
constexpr std::uint32_t fewest_glitches = 20;
constexpr std::uint32_t most_glitches = 1'000'000;
constexpr std::size_t one_kib = 1024;
constexpr std::size_t least_stream_window = 4 * one_kib;
constexpr std::size_t most_stream_window = 16 * one_kib * one_kib;
// A connection begins with 65,535 bytes (RFC 9113 section 6.9.2).
constexpr std::size_t least_connection_window = 64 * one_kib;
constexpr std::size_t most_connection_window = 1024 * one_kib * one_kib;

constexpr std::array http2_table{
    Http2Row::number<&Http2Bounds::max_streams>(
        {.key = "max_streams",
         .about = "The most requests of one connection at once. Further ones are refused.",
         .expected = "a number of streams",
         .reload = Reload::new_connections},
        1,
        most_http2_streams),
    Http2Row::number<&Http2Bounds::max_waiting_streams>(
        {.key = "max_waiting_streams",
         .about = "The most requests of one connection that wait in a queue at once. A further one "
                  "is refused as if its queue were full.",
         .expected = "a number of streams, or 0",
         .reload = Reload::new_connections},
        1,
        most_http2_streams,
        "0"),
    Http2Row::number<&Http2Bounds::max_requests>(
        {.key = "max_requests",
         .about = "After so many requests a connection ends with a GOAWAY, and the client connects "
                  "anew.",
         .expected = "a number of requests, or off",
         .reload = Reload::new_connections},
        1,
        most_http2_requests,
        "off"),
    Http2Row::size<&Http2Bounds::stream_window>(
        {.key = "stream_window",
         .about =
             "Bytes of a request's body that a client may send before the upstream takes them.",
         .expected = "a size such as 64KiB",
         .reload = Reload::new_connections},
        least_stream_window,
        most_stream_window),
    Http2Row::size<&Http2Bounds::connection_window>(
        {.key = "connection_window",
         .about =
             "Bytes of all bodies of a connection that a client may send before Stint has read "
             "them.",
         .expected = "a size such as 1MiB",
         .reload = Reload::new_connections},
        least_connection_window,
        most_connection_window),
    Http2Row::number<&Http2Bounds::max_glitches>(
        {.key = "max_glitches",
         .about =
             "Frames without a purpose that close a connection. It is forgiven a tenth of them "
             "each second.",
         .expected = "a number of frames",
         .reload = Reload::new_connections},
        fewest_glitches,
        most_glitches),
};

} // namespace

Table<Http2Bounds> http2_fields() {
    return http2_table;
}

void read_http2(const Value& value, Http2Bounds& bounds, LoadState& loading) {
    const auto section = open_section(value, http2_fields(), "a map such as {max_streams: 100}");
    if (!section)
        return;
    read_fields(*section, http2_fields(), bounds, loading);
    if (section->find("max_waiting_streams") && bounds.max_waiting_streams > bounds.max_streams)
        section->wrong_at(
            "max_waiting_streams",
            "is more than max_streams, which is " + std::to_string(bounds.max_streams));
    if (bounds.connection_window < bounds.stream_window)
        section->wrong_at(
            section->find("stream_window") ? "stream_window" : "connection_window",
            section->find("stream_window") ? "is more than connection_window"
                                           : "is less than stream_window");
}

void read_http(const Field& field, const Value& value, Http2& http2) {
    const auto items = value.items(field.expected);
    if (!items)
        return;
    std::vector<std::string> given;
    for (const Value& item : *items) {
        const auto word = item.as(
            "h2 or http/1.1", [](std::string_view text) { return parse_word(text, http_words); });
        if (!word)
            continue;
        if (std::ranges::find(given, *word) != given.end())
            item.wrong(in_quotes(*word) + " is listed already; remove one");
        given.emplace_back(*word);
    }
    http2.offered = std::ranges::find(given, "h2") != given.end();
    if (std::ranges::find(given, "http/1.1") == given.end())
        value.wrong("lacks http/1.1, which every listener speaks; expected [http/1.1] or "
                    "[h2, http/1.1]");
}

void complete_http2(const Section& section, Http2& http2, bool tls) {
    if (!section.find("http"))
        http2.offered = tls;
    if (http2.offered && !tls)
        section.wrong_at(
            "http", "offers h2 in the TLS handshake, and needs tls; without it, "
                    "expected h2c: true");
    if (http2.h2c && tls)
        section.wrong_at("h2c", "is for a listener without tls; expected http: [h2, http/1.1]");
    if (!http2.offered && !http2.h2c && section.find("http2"))
        section.wrong_at(
            "http2",
            "is for a listener that speaks HTTP/2; expected http: [h2, http/1.1] with tls, "
            "or h2c: true");
}

void show_http(const Field& field, const Http2& http2, Shown::Map& members) {
    Shown::List list;
    if (http2.offered)
        list.emplace_back("h2");
    list.emplace_back("http/1.1");
    add(members, field.key, std::move(list));
}

} // namespace stint::config
