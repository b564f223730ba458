// OCSP stapling: what a certificate's authority says of it, sent along (RFC 6066 section 8).
// Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"

#include <string>
#include <vector>

using X509 = struct x509_st;

namespace stint::tls {

// Makes connections that show this certificate send the response in the file, until its time is
// over. The error names the file; oddities become warnings.
[[nodiscard]] Result<void, std::string> staple(
    SSL_CTX& context,
    X509& certificate,
    const std::string& file,
    std::vector<std::string>& warnings);

} // namespace stint::tls
