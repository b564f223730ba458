// Whom a side believes. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"

#include <string>

namespace stint::tls {

// The certificates in the file are believed from now on, roots or not, and the revocations (CRLs)
// in it are heeded; those of its issuers that publish none there are taken as they are.
enum class Names : bool { none, told }; // whether clients are told whose certificates are taken
[[nodiscard]] Result<void, std::string>
trust_file(SSL_CTX& context, const std::string& file, Names names);

// Heeds the revocations in the file.
[[nodiscard]] Result<void, std::string> heed_revocations(SSL_CTX& context, const std::string& file);

// For SSL_CTX_set_verify: lets pass that there is no list of revocations of an issuer. A
// certificate that is believed though it is no root is held against its own issuer's lists, too.
int accept_without_revocations(int good, struct x509_store_ctx_st* verification) noexcept;

} // namespace stint::tls
