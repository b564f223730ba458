// Files and settings that cannot be used.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

struct Shop {
    Folder folder;
    Issued issued = self_signed({.names = {"DNS:shop.example"}});
    KeyPair files = issued.in(folder, "shop");

    [[nodiscard]] ServerSettings settings(const std::string& ciphers = {}) const {
        return {.certificates = {files}, .ciphers = ciphers, .client_ca = {}};
    }
};

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return true;
}

} // namespace

TEST_CASE("a certificate or key that is not there is named") {
    Shop shop;
    std::string missing = shop.folder.path("none");
    SUBCASE("certificate") {
        shop.files.certificate = missing;
    }
    SUBCASE("key") {
        shop.files.key = missing;
    }
    SUBCASE("staple") {
        shop.files.ocsp_staple = missing;
    }

    CHECK(mistake_in(shop.settings()) == missing + " cannot be read: No such file or directory");
}

TEST_CASE("a file that holds something else is named") {
    Shop shop;
    const std::string wrong = shop.folder.write("wrong", "shopping list\n");

    shop.files.certificate = wrong;
    CHECK(mistake_in(shop.settings()) == wrong + " holds no certificate in PEM");
    shop.files = {shop.folder.path("shop.pem"), wrong, {}};
    CHECK(mistake_in(shop.settings()) == wrong + " holds no private key in PEM");
    shop.files = {shop.folder.path("shop.pem"), shop.folder.path("shop.key"), wrong};
    CHECK(mistake_in(shop.settings()) == wrong + " holds no OCSP response in DER");
    shop.files.ocsp_staple.clear();
    ServerSettings settings = shop.settings();
    settings.client_ca = wrong;
    settings.client_certificate = ServerSettings::ClientCertificate::required;
    CHECK(mistake_in(settings) == wrong + " holds no certificate in PEM");
}

TEST_CASE("a certificate that breaks off is a mistake, also behind a good one") {
    Shop shop;
    const std::string pem = shop.issued.pem();
    const std::string half = pem.substr(0, pem.size() / 2);

    shop.folder.write("shop.pem", half);
    contains(mistake_in(shop.settings()), "shop.pem holds");
    shop.folder.write("shop.pem", pem + half);
    contains(mistake_in(shop.settings()), "shop.pem holds a broken certificate behind the first");
}

TEST_CASE("another certificate's key is a mistake") {
    Shop shop;
    shop.files.key = self_signed({}).in(shop.folder, "other").key;

    CHECK(
        mistake_in(shop.settings()) ==
        shop.files.key + " is not the key of the certificate in " + shop.files.certificate);
}

TEST_CASE("nobody is asked for the password of a key") {
    Shop shop;
    shop.folder.write("shop.key", shop.issued.key_pem("secret"));

    CHECK(
        mistake_in(shop.settings()) ==
        shop.files.key + " is protected by a password, and there is nobody to ask for it");
}

TEST_CASE("ciphers that OpenSSL does not have, or that protect nothing, are mistakes") {
    const Shop shop;
    const auto mistake = [&](const std::string& ciphers) {
        return mistake_in(shop.settings(ciphers));
    };

    CHECK(mistake("ECDHE+AESGCM:AES256-BEST") == "OpenSSL has no cipher AES256-BEST");
    CHECK(mistake("TLS_AES_128_GCM_SHA255") == "OpenSSL has no cipher TLS_AES_128_GCM_SHA255");
    contains(mistake("ALL:eNULL:@SECLEVEL=0"), " protects nothing");
    contains(mistake("ADH:@SECLEVEL=0"), " protects nothing");
    CHECK(mistake("ECDHE+AESGCM:!aNULL:TLS_AES_128_GCM_SHA256") == "nothing is wrong");
}

} // namespace stint::tls
