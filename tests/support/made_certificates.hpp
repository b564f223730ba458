// Certificates, keys, revocations and OCSP responses for the tests of TLS, made on the spot.
#pragma once

#include "tls/openssl.hpp"
#include "tls/settings.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::tls {

// A folder that goes with the object.
class Folder {
  public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // Returns the file's path.
    std::string write(std::string_view name, std::string_view text) const;
    [[nodiscard]] std::string path(std::string_view name) const;

  private:
    std::filesystem::path path_;
};

// What a certificate says. Times are seconds from now.
struct Wish {
    std::string common_name = "shop.example";
    std::vector<std::string> names; // "DNS:shop.example", "IP:192.0.2.1"; none: no such extension
    long begins = -3600;
    long ends = 30L * 24 * 3600;
    bool rsa = false; // else P-256
    bool ca = false;
};

struct Issued {
    CertificatePtr certificate;
    KeyPtr key;

    [[nodiscard]] std::string pem() const;
    [[nodiscard]] std::string key_pem(const char* password = nullptr) const;
    // Both written to the folder, as NAME.pem and NAME.key.
    [[nodiscard]] KeyPair in(const Folder& folder, const std::string& name) const;
};

class Authority {
  public:
    explicit Authority(const std::string& name = "Test authority");

    [[nodiscard]] Issued issue(const Wish& request) const;
    // One that this one has signed.
    [[nodiscard]] Authority intermediate(const std::string& name) const;
    [[nodiscard]] const Issued& own() const noexcept { return own_; }
    [[nodiscard]] std::string pem() const { return own_.pem(); }
    // A list that revokes these. ends: seconds from now. names_key: it says whose key has signed it
    // (RFC 5280 section 5.2.1).
    [[nodiscard]] std::string revocations(
        const std::vector<const Issued*>& revoked, long ends = 3600, bool names_key = false) const;
    // That the certificate is good. ends: seconds from now.
    [[nodiscard]] std::string ocsp_response(const Issued& about, long ends = 3600) const;

  private:
    explicit Authority(Issued own) : own_{std::move(own)} {}

    Issued own_;
};

[[nodiscard]] Issued self_signed(const Wish& request);

} // namespace stint::tls
