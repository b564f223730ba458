// Whom Stint believes about the client.
#include "config/load_parts.hpp"
#include "config/match_values.hpp"
#include "config/networks.hpp"

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
            value.wrong("\"unix\" is listed already");
        trusted.unix_peers = true;
        return;
    }
    const auto network = value.as(a_peer, parse_network);
    if (!network)
        return;
    if (std::find(trusted.networks.begin(), trusted.networks.end(), *network) !=
        trusted.networks.end())
        value.wrong(in_quotes(IpText{*network}.view()) + " is listed already");
    trusted.networks.push_back(*network);
}

// Those that say something else, and that Stint reads or writes itself.
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
        return Wrong{
            in_quotes(text) + " does not name a client; expected a header such as X-Forwarded-For"};
    if (is_token(text))
        return name;
    return Wrong{
        in_quotes(text) + " is not the name of a header; expected one such as X-Forwarded-For"};
}

} // namespace

void read_trusted_proxies(const Section& top, TrustedProxies& trusted) {
    const auto peers = top.find("trusted_proxies");
    if (peers) {
        const auto items = peers->items("a list of networks such as [10.0.0.0/8]");
        for (const Value& item : items.value_or(std::vector<Value>{}))
            add_peer(item, trusted);
    }
    const auto header = top.find("client_ip_header");
    if (!header)
        return;
    header->into(trusted.header, "the name of a header such as X-Forwarded-For", parse_header_name);
    if (!peers)
        top.wrong_at("client_ip_header", "has no use without trusted_proxies: nobody is believed");
}

} // namespace stint::config
