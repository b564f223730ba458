// Networks, as a configuration writes them.
#pragma once

#include "base/ip_address.hpp"
#include "config/yaml/reader.hpp"

#include <string_view>

namespace stint::config {

// "10.0.0.0/8", "2001:db8::/32" or an address; bits beyond the prefix are a mistake.
[[nodiscard]] Parsed<Cidr> parse_network(std::string_view text);

} // namespace stint::config
