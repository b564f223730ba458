// A certificate and its key, from files. Internal to tls/.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "tls/openssl.hpp"

#include <string>

namespace stint::tls {

struct LoadedPair {
    CertificatePtr certificate;
    ChainPtr chain; // the certificates behind the first in its file; not nullptr
    KeyPtr key;

    // OpenSSL's number for RSA, elliptic curves and so on.
    [[nodiscard]] int kind() const noexcept;
    [[nodiscard]] WallTime expires() const noexcept;
    [[nodiscard]] bool is_expired() const noexcept; // by the clock of this moment
};

// Loads both PEM files, and checks that the key is the certificate's. The error names the file.
[[nodiscard]] Result<LoadedPair, std::string>
load_pair(const std::string& certificate_file, const std::string& key_file);

// Makes the context's connections use this pair; pairs of other kinds stay. The error names the
// file.
[[nodiscard]] Result<void, std::string>
use_pair(SSL_CTX& context, const LoadedPair& pair, const std::string& certificate_file);

} // namespace stint::tls
