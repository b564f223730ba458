// Sets the certificates that a context trusts, and their revocations. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"

#include <string>

namespace stint::tls {

// Trusts the certificates in the PEM file, even if they are not roots, and applies the revocation
// lists (CRLs) in it. Certificates of issuers without a CRL in the file are not checked for
// revocation. The error names the file. names: whether a server sends the names of these
// authorities to clients.
enum class Names : bool { none, told }; // told: sends the names to clients
[[nodiscard]] Result<void, std::string>
trust_file(SSL_CTX& context, const std::string& file, Names names);

// Applies the revocation lists (CRLs) in the PEM file. The error names the file.
[[nodiscard]] Result<void, std::string> heed_revocations(SSL_CTX& context, const std::string& file);

// Verification callback for SSL_CTX_set_verify(). Ignores the error that an issuer has no CRL. Also
// checks a trusted certificate that is not a root against the CRLs of its own issuer.
int accept_without_revocations(int good, struct x509_store_ctx_st* verification) noexcept;

} // namespace stint::tls
