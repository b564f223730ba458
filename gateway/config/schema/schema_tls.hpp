// TLS settings of a configuration, as plain values. Files are absolute, or relative to the working
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stint::config {

// A position in the file; from 1, columns in characters.
struct Place {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct Certificate {
    std::string certificate; // PEM, the chain behind it
    std::string key;         // PEM
    std::string ocsp_staple; // DER; empty = none
    Place place;             // `certificate`'s
};

// A listener's TLS settings.
struct Tls {
    enum class ClientCertificate : std::uint8_t { none, optional, require };
    std::vector<Certificate> certificates; // at least one; the first is for unknown names
    bool only_1_3 = false;                 // min_version: 1.2 (default) | 1.3
    std::string ciphers;                   // as OpenSSL spells lists; empty = the default
    std::string client_ca;                 // PEM; empty = clients are not asked for a certificate
    ClientCertificate client_certificate = ClientCertificate::none;
    Place place;
};

// TLS settings towards an upstream's https endpoints.
struct UpstreamTls {
    std::string ca;          // PEM; empty = the system's store
    std::string crl;         // PEM
    std::string server_name; // the name that certificates must be for; empty = the endpoint's host
    bool verify = true;
    std::string certificate; // PEM, shown to servers that ask for one
    std::string key;
    Place place;
};

} // namespace stint::config
