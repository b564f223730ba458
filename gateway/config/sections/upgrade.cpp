// Reads `upgrade`: the protocols to which clients of a route may switch.
#include "config/sections/section_readers.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace stint::config {

namespace {

constexpr std::string_view a_protocol_list = "off or a list of protocols such as [websocket]";

// Protocols that must not be allowed: a tunnel of these would carry further requests, or TLS, past
// the limits.
constexpr std::array<std::string_view, 5> hiding{"h2c", "h2", "h3", "http", "tls"};

bool hides_requests(std::string_view protocol) {
    const std::string name = lower(protocol.substr(0, protocol.find('/')));
    return std::find(hiding.begin(), hiding.end(), name) != hiding.end();
}

Parsed<std::string> parse_protocol(std::string_view text) {
    if (hides_requests(text))
        return ParseError{
            in_quotes(text) +
            " would carry requests past the limits; expected another protocol, such as websocket"};
    if (!is_token(text))
        return ParseError{
            in_quotes(text) +
            " is not a protocol; expected a name without its version, such as websocket"};
    return lower(text);
}

} // namespace

void read_upgrade(const Value& value, std::vector<std::string>& protocols) {
    constexpr std::array<std::string_view, 1> words{"off"};
    protocols.clear();
    if (value.is_scalar()) {
        (void)value.as(
            a_protocol_list, [&](std::string_view text) { return parse_word(text, words); });
        return;
    }
    const auto items = value.items(a_protocol_list);
    if (items && items->empty())
        value.wrong("is empty; expected at least one protocol, or upgrade: off");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto protocol = item.as("a protocol such as websocket", parse_protocol);
        if (!protocol)
            continue;
        if (std::find(protocols.begin(), protocols.end(), *protocol) != protocols.end())
            item.wrong(in_quotes(*protocol) + " is listed already; remove one");
        protocols.push_back(*protocol);
    }
}

} // namespace stint::config
