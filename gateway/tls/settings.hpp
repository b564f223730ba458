// TLS settings of either side: files and rules, as plain values. Paths are absolute or relative to
// the working folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint::tls {

enum class Version : std::uint8_t { tls_1_2, tls_1_3 };

// PEM files. The certificate's may hold the chain behind it, leaf first, without the root.
struct KeyPair {
    std::string certificate;
    std::string key;
    std::string ocsp_staple; // a DER file (RFC 6960); empty = none is sent

    friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

struct ServerSettings {
    enum class ClientCertificate : std::uint8_t { none, optional, required };
    std::vector<KeyPair> certificates; // at least one; the first is for unknown names
    Version min_version = Version::tls_1_2;
    std::string ciphers; // as OpenSSL spells lists (TLS_… ones are of TLS 1.3); empty = the default
    std::string client_ca; // PEM, CRLs in it are honoured; not empty unless `none` is asked for
    ClientCertificate client_certificate = ClientCertificate::none;

    friend bool operator==(const ServerSettings&, const ServerSettings&) = default;
};

struct ClientSettings {
    std::string ca;  // PEM, CRLs in it are honoured; empty = the system's store
    std::string crl; // PEM
    bool verify = true;
    std::string certificate; // shown to servers that ask for one
    std::string key;

    friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

} // namespace stint::tls
