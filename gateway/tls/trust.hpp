// Certificates that a side trusts. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"

#include <string>

namespace stint::tls {

// Trusts the certificates in the file, roots or not, and heeds the revocations (CRLs) in it;
// certificates of issuers that publish none there are taken as they are.
enum class Names : bool { none, told }; // told: clients see whose certificates are taken
[[nodiscard]] Result<void, std::string>
trust_file(SSL_CTX& context, const std::string& file, Names names);

// Heeds the revocations in the file.
[[nodiscard]] Result<void, std::string> heed_revocations(SSL_CTX& context, const std::string& file);

// Accepts, as a callback of SSL_CTX_set_verify, that an issuer has no CRL. A certificate that is
// trusted though it is no root is checked against its own issuer's CRLs, too.
int accept_without_revocations(int good, struct x509_store_ctx_st* verification) noexcept;

} // namespace stint::tls
