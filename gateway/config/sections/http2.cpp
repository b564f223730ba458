// Reads what listeners offer of HTTP/2.
#include "config/fields/http2_rows.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stint::config {

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

void check_http2(const Section& section, const Http2& http2, bool tls) {
    if (http2.offered && !tls)
        section.wrong_at(
            "http", "offers h2 in the TLS handshake, and needs tls; without it, "
                    "expected h2c: true");
    if (http2.h2c && tls)
        section.wrong_at("h2c", "is for a listener without tls; expected http: [h2, http/1.1]");
}

void show_http(const Field& field, const Http2& http2, Shown::Map& members) {
    Shown::List list;
    if (http2.offered)
        list.emplace_back("h2");
    list.emplace_back("http/1.1");
    add(members, field.key, std::move(list));
}

} // namespace stint::config
