// TLS settings of servers and clients as plain values. Paths of files are absolute, or relative to
// the working directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint::tls {

enum class Version : std::uint8_t { tls_1_2, tls_1_3 };

// The PEM files of a certificate and its private key. The certificate's file may also have its
// chain: leaf first, without the root.
struct KeyPair {
    std::string certificate;
    std::string key;
    std::string ocsp_staple; // DER file with an OCSP response (RFC 6960); empty = none is sent

    friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

struct ServerSettings {
    enum class ClientCertificate : std::uint8_t { none, optional, required };
    std::vector<KeyPair> certificates; // at least one; the first also serves unknown names
    Version min_version = Version::tls_1_2;
    std::string ciphers; // OpenSSL cipher list (names TLS_… are of TLS 1.3); empty = the default
    std::string client_ca; // PEM with optional CRLs; required unless client_certificate is `none`
    ClientCertificate client_certificate = ClientCertificate::none;
    // True: the handshake fails for a client that asks for no name, or for a name of no
    // certificate.
    bool refuses_unknown_names = false;
    bool http2 = false; // offered beside HTTP/1.1, and preferred

    friend bool operator==(const ServerSettings&, const ServerSettings&) = default;
};

struct ClientSettings {
    std::string ca;  // PEM with optional CRLs; empty = the system's trust store
    std::string crl; // PEM
    bool verify = true;
    std::string certificate; // PEM client certificate, for servers that request one
    std::string key;

    friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

} // namespace stint::tls
