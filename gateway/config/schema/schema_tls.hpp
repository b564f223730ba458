// TLS settings of a configuration, as plain values. Files are absolute, or relative to the working
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stint::config {

// A position in the configuration file. Lines and columns count from 1; columns count characters.
struct Place {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct Certificate {
    std::string certificate; // PEM file with the certificate, followed by its chain
    std::string key;         // PEM
    std::string ocsp_staple; // DER; empty = none
    Place place;             // position of `certificate`
};

// A listener's TLS settings.
struct Tls {
    enum class ClientCertificate : std::uint8_t { none, optional, require };
    // At least one. The first is also shown to clients that ask for an unknown name or for none.
    std::vector<Certificate> certificates;
    bool only_1_3 = false; // min_version: 1.2 (default) | 1.3
    std::string ciphers;   // OpenSSL cipher list; empty = the default
    std::string client_ca; // PEM; empty = no client certificate is requested
    ClientCertificate client_certificate = ClientCertificate::none;
    bool refuses_unknown_names = false; // unknown_names: serve (default) | refuse
    Place place;
};

// TLS settings towards an upstream's https endpoints.
struct UpstreamTls {
    std::string ca;          // PEM; empty = the system's trust store
    std::string crl;         // PEM
    std::string server_name; // name in the certificate; empty = the endpoint's host
    bool verify = true;
    std::string certificate; // PEM client certificate, for servers that request one
    std::string key;
    Place place;
};

} // namespace stint::config
