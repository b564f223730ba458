#include "config/values/networks.hpp"

namespace stint::config {

Parsed<Cidr> parse_network(std::string_view text) {
    const auto network = Cidr::parse(text);
    if (!network)
        return ParseError{
            in_quotes(text) +
            " is not a network; expected one such as 10.0.0.0/8 or 2001:db8::/32, or an address"};
    if (network->network() != network->address)
        return ParseError{
            in_quotes(text) + " has bits beyond its prefix; did you mean " +
            in_quotes(IpText{*network}.view()) + '?'};
    return *network;
}

} // namespace stint::config
