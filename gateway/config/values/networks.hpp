// Parses networks in a configuration.
#pragma once

#include "base/ip_address.hpp"
#include "config/yaml/reader.hpp"

#include <string_view>

namespace stint::config {

// Parses "10.0.0.0/8", "2001:db8::/32" or a single address. Set bits beyond the prefix are an
// error.
[[nodiscard]] Parsed<Cidr> parse_network(std::string_view text);

} // namespace stint::config
