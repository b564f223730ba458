// Rows of the keys about HTTP/2, for each kind of listener.
#pragma once

#include "config/fields/kinds.hpp"
#include "config/fields/tables.hpp"
#include "config/sections/section_readers.hpp"

#include <utility>

namespace stint::config {

inline constexpr std::array<std::string_view, 2> http_words{"h2", "http/1.1"};

// Reads the versions of HTTP that a listener offers. HTTP/1.1 is always one of them.
void read_http(const Field& field, const Value& value, Http2& http2);
// Offers HTTP/2 where the section has `tls` and does not say what it offers, and reports HTTP/2
// where no client can choose it.
void complete_http2(const Section& section, Http2& http2, bool tls);
void show_http(const Field& field, const Http2& http2, Shown::Map& members);
// Reads the bounds of HTTP/2's connections.
void read_http2(const Value& value, Http2Bounds& bounds, LoadState& loading);

// S: has a member `Http2 http2`.
template <class S>
constexpr FieldOf<S> http_row(Reload reload) {
    return Fields<S>::other(
        {.key = "http",
         .about = "The versions of HTTP that clients may choose in the TLS handshake (ALPN): h2 is "
                  "HTTP/2.",
         .expected = "a list such as [h2, http/1.1]",
         .otherwise = "`[h2, http/1.1]` with `tls`, else `[http/1.1]`",
         .reload = reload},
        {.kind = FieldType::Kind::word, .is_list = true, .words = http_words},
        [](const Field& field, const Value& value, S& section, LoadState&) {
            read_http(field, value, section.http2);
        },
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            show_http(field, section.http2, members);
        });
}

template <class S>
constexpr FieldOf<S> h2c_row(Reload reload) {
    return Fields<S>::template boolean<inside<&S::http2, &Http2::h2c>>(
        {.key = "h2c",
         .about = "Without TLS: a client that knows of it may begin with HTTP/2.",
         .reload = reload});
}

template <class S>
constexpr FieldOf<S> http2_row(Reload reload) {
    return Fields<S>::map(
        {.key = "http2",
         .about = "The bounds of each connection that speaks HTTP/2.",
         .otherwise = "as below",
         .reload = reload},
        "map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_http2(value, section.http2.bounds, loading);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            if (section.http2.offered || section.http2.h2c)
                add(members, field.key, shown(http2_fields(), section.http2.bounds, config));
        });
}

} // namespace stint::config
