// Reads the names for which a certificate is valid. Internal to tls/.
#pragma once

#include <string>
#include <vector>

using X509 = struct x509_st;

namespace stint::tls {

// Returns the certificate's DNS names in lower case, such as "shop.example" and "*.shop.example".
// If it has no subject alternative name at all, returns its common names (RFC 6125 section 6.4.4).
[[nodiscard]] std::vector<std::string> dns_names(X509& certificate);

// Returns the certificate's DNS names and IP addresses, for messages.
[[nodiscard]] std::vector<std::string> all_names(X509& certificate);

} // namespace stint::tls
