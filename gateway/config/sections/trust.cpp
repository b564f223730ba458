// Reads trusted_proxies and related keys: peers that are trusted to name the client.
#include "config/fields/shared_rows.hpp"
#include "config/values/edited_fields.hpp"
#include "config/values/match_values.hpp"
#include "config/values/networks.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

constexpr std::string_view a_peer = "a network such as 10.0.0.0/8, an address, or unix";

void add_peer(const Value& value, TrustedProxies& trusted) {
    const auto text = value.scalar(a_peer);
    if (!text)
        return;
    if (*text == "unix") {
        if (trusted.unix_peers)
            value.wrong("\"unix\" is listed already; remove one");
        trusted.unix_peers = true;
        return;
    }
    const auto network = value.as(a_peer, parse_network);
    if (!network)
        return;
    if (std::find(trusted.networks.begin(), trusted.networks.end(), *network) !=
        trusted.networks.end())
        value.wrong(in_quotes(IpText{*network}.view()) + " is listed already; remove one");
    trusted.networks.push_back(*network);
}

// Headers that client_ip_header must not name: they do not name a client, or Stint reads or writes
// them itself.
constexpr std::array<std::string_view, 20> other_headers{
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "date",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id"};

Parsed<std::string> parse_header_name(std::string_view text) {
    const std::string name = lower(text);
    if (std::find(other_headers.begin(), other_headers.end(), name) != other_headers.end())
        return ParseError{
            in_quotes(text) + " does not name a client; expected a header such as X-Forwarded-For"};
    if (is_token(text))
        return name;
    return ParseError{
        in_quotes(text) + " is not the name of a header; expected one such as X-Forwarded-For"};
}

// Headers, in lower case, that must not be listed as trusted fields, because Stint reads, writes or
// removes them for all peers.
constexpr std::array<std::string_view, 16> own_fields{
    "connection",   "content-length",    "expect",           "forwarded",
    "host",         "http2-settings",    "keep-alive",       "te",
    "trailer",      "transfer-encoding", "upgrade",          "via",
    "x-request-id", "x-forwarded-for",   "x-forwarded-host", "x-forwarded-proto"};
constexpr std::array<std::string_view, 2> own_families{"proxy-", "x-stint-"};

Parsed<std::string> parse_trusted_field(std::string_view text) {
    const std::string_view name = text.substr(0, text.size() - (text.ends_with('*') ? 1 : 0));
    if (!is_token(name) || name.find('*') != std::string_view::npos)
        return ParseError{
            in_quotes(text) + " is not the name of a header; expected one such as X-Real-IP, or "
                              "the beginning of several such as X-Forwarded-*"};
    const std::string read = field_key(text);
    const auto begins = [&read](std::string_view family) { return read.starts_with(family); };
    if (std::find(own_fields.begin(), own_fields.end(), read) != own_fields.end() ||
        std::any_of(own_families.begin(), own_families.end(), begins))
        return ParseError{in_quotes(text) + " is written or removed by Stint, whoever sends it"};
    return std::string{text};
}

} // namespace

void read_trusted_fields(const Field& field, const Value& value, Config& config, LoadState&) {
    std::vector<std::string>& fields = config.trusted_proxies.fields;
    const auto items = value.items(field.expected);
    if (!items)
        return;
    if (items->size() > field.type.most_items)
        value.wrong("has more than " + std::to_string(field.type.most_items) + " names");
    fields.clear();
    for (const Value& item : *items) {
        auto name = item.as("a header such as X-Real-IP", parse_trusted_field);
        if (!name)
            continue;
        const auto is_same = [&](const std::string& each) { return lower(each) == lower(*name); };
        if (std::any_of(fields.begin(), fields.end(), is_same))
            item.wrong(in_quotes(*name) + " is listed already; remove one");
        fields.push_back(*std::move(name));
    }
}

void read_peers(const Field& field, const Value& value, Config& config, LoadState&) {
    const auto items = value.items(field.expected);
    for (const Value& item : items.value_or(std::vector<Value>{}))
        add_peer(item, config.trusted_proxies);
}

void read_client_ip_header(const Section& top, TrustedProxies& trusted) {
    const auto header = top.find("client_ip_header");
    if (!header)
        return;
    header->into(trusted.header, "the name of a header such as X-Forwarded-For", parse_header_name);
    if (!top.find("trusted_proxies"))
        top.wrong_at("client_ip_header", "has no use without trusted_proxies: nobody is believed");
}

void show_client_ip_header(
    const Field& field, const Config& config, const Config&, Shown::Map& members) {
    const TrustedProxies& trusted = config.trusted_proxies;
    if (!trusted.networks.empty() || trusted.unix_peers)
        add(members, field.key, trusted.header);
}

void show_trusted_proxies(
    const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::List peers;
    for (const Cidr& network : config.trusted_proxies.networks)
        peers.emplace_back(IpText{network}.view());
    if (config.trusted_proxies.unix_peers)
        peers.emplace_back("unix");
    add(members, field.key, std::move(peers));
}

} // namespace stint::config
