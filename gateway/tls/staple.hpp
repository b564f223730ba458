// OCSP stapling: sends the OCSP response about a certificate in the handshake (RFC 6066 section 8).
// Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"

#include <string>
#include <vector>

using X509 = struct x509_st;

namespace stint::tls {

// Makes connections with this certificate send the OCSP response in the file, until the response
// expires. The error names the file. Adds a warning for a suspicious response, such as an expired
// one.
[[nodiscard]] Result<void, std::string> staple(
    SSL_CTX& context,
    X509& certificate,
    const std::string& file,
    std::vector<std::string>& warnings);

} // namespace stint::tls
