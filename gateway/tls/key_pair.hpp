// Loads a certificate and its private key from files. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "tls/openssl.hpp"

#include <string>

namespace stint::tls {

struct LoadedPair {
    CertificatePtr certificate;
    ChainPtr chain; // all but the first certificate of the file; not nullptr
    KeyPtr key;

    // Returns OpenSSL's id of the key's type, such as EVP_PKEY_RSA.
    [[nodiscard]] int kind() const noexcept;
    [[nodiscard]] WallTime expires() const noexcept;
    [[nodiscard]] bool is_expired() const noexcept; // by the current wall clock
};

// Loads both PEM files, and checks that the key belongs to the certificate. The error names the
// file.
[[nodiscard]] Result<LoadedPair, std::string>
load_pair(const std::string& certificate_file, const std::string& key_file);

// Makes connections of the context use this pair, in addition to pairs with other types of keys.
// The error names the file.
[[nodiscard]] Result<void, std::string>
use_pair(SSL_CTX& context, const LoadedPair& pair, const std::string& certificate_file);

} // namespace stint::tls
