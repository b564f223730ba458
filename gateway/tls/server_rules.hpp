// Applies a server's settings other than its certificates. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"

#include <string>
#include <vector>

namespace stint::tls {

// Applies the settings to a context. names: the server names of the context. Sessions of other
// names, or with other rules for client certificates, are not resumed by this context. The error is
// one human-readable line.
[[nodiscard]] Result<void, std::string> apply_rules(
    SSL_CTX& context, const ServerSettings& settings, const std::vector<std::string>& names);

// Checks that OpenSSL supports every cipher of the list, and that each cipher encrypts and
// authenticates by certificate. The error names the faulty cipher.
[[nodiscard]] Result<void, std::string> check_ciphers(const std::string& ciphers);

} // namespace stint::tls
