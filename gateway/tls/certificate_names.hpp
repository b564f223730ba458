// Names that a certificate is for. Internal to tls/.
#pragma once

#include <string>
#include <vector>

using X509 = struct x509_st;

namespace stint::tls {

// Returns its DNS names in lower case, such as "shop.example" and "*.shop.example"; without a
// subject alternative name of any kind the common names (RFC 6125 section 6.4.4).
[[nodiscard]] std::vector<std::string> dns_names(X509& certificate);

// Returns the same for a person to read, with its IP addresses.
[[nodiscard]] std::vector<std::string> all_names(X509& certificate);

} // namespace stint::tls
