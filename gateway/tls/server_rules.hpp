// A server's settings beside its certificates. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "tls/context.hpp"
#include "tls/settings.hpp"

#include <string>
#include <vector>

namespace stint::tls {

// Applies the settings. names: those that the context answers for; a session of other names, or
// under other rules for clients' certificates, is not resumed there. The error is one line for a
// person.
[[nodiscard]] Result<void, std::string> apply_rules(
    SSL_CTX& context, const ServerSettings& settings, const std::vector<std::string>& names);

// Checks that OpenSSL knows every cipher of the list, and that none of them goes without encryption
// or without a certificate. The error says which one is wrong.
[[nodiscard]] Result<void, std::string> check_ciphers(const std::string& ciphers);

} // namespace stint::tls
