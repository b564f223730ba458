// What a configuration says of TLS, as plain values. Files are absolute, or relative to the working
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stint::config {

// Where in the file something is written; from 1, columns in characters.
struct Place {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct Certificate {
    std::string certificate; // PEM, the chain behind it
    std::string key;         // PEM
    std::string ocsp_staple; // DER; empty = none
    Place place;             // of `certificate`
};

// Of a listener.
struct Tls {
    enum class ClientCertificate : std::uint8_t { none, optional, require };
    std::vector<Certificate> certificates; // at least one; the first is for unknown names
    bool only_1_3 = false;                 // min_version: 1.2 (default) | 1.3
    std::string ciphers;                   // as OpenSSL spells lists; empty = the default
    std::string client_ca;                 // PEM; empty = clients are not asked
    ClientCertificate client_certificate = ClientCertificate::none;
    Place place;
};

// Towards an upstream's endpoints that are https.
struct UpstreamTls {
    std::string ca;          // PEM; empty = the system's store
    std::string crl;         // PEM
    std::string server_name; // whom certificates have to be for; empty = the endpoint's host
    bool verify = true;
    std::string certificate; // PEM, shown to servers that ask for one
    std::string key;
    Place place;
};

} // namespace stint::config
