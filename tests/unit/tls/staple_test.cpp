// OCSP responses that are sent along.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

struct Shop {
    Folder folder;
    Authority authority;
    Issued issued = authority.issue({.names = {"DNS:shop.example"}});
    KeyPair files = issued.in(folder, "shop");

    void staple(const std::string& response) {
        files.ocsp_staple = folder.write("shop.ocsp", response);
    }
    [[nodiscard]] ServerSettings settings() const {
        return {.certificates = {files}, .ciphers = {}, .client_ca = {}};
    }
};

// What the client was sent; "" for nothing.
std::string stapled(const Server& server, bool asked, const std::string& name = "shop.example") {
    SslPtr ssl = AnyClient{}.connect(name);
    if (asked)
        SSL_set_tlsext_status_type(ssl.get(), TLSEXT_STATUSTYPE_ocsp);
    const Handshake both = shake(std::move(ssl), server.accept());
    REQUIRE(both.done);
    const unsigned char* response = nullptr;
    const long size = SSL_get_tlsext_status_ocsp_resp(both.client.get(), &response);
    return size > 0
               ? std::
                     string{reinterpret_cast<const char*>(response), static_cast<std::size_t>(size)}
               : std::string{};
}

} // namespace

TEST_CASE("a client that asks gets the OCSP response, and nobody else") {
    Shop shop;
    const std::string response = shop.authority.ocsp_response(shop.issued);
    shop.staple(response);
    const auto server = tls::server(shop.settings());

    CHECK(server->warnings().empty());
    CHECK(stapled(*server, true) == response);
    CHECK(stapled(*server, false).empty());
}

TEST_CASE("each certificate has its own response, or none") {
    Shop shop;
    const std::string response = shop.authority.ocsp_response(shop.issued);
    shop.staple(response);
    ServerSettings settings = shop.settings();
    const Issued other = shop.authority.issue({.names = {"DNS:other.example"}});
    settings.certificates.push_back(other.in(shop.folder, "other"));
    const auto server = tls::server(settings);

    CHECK(stapled(*server, true, "other.example").empty());
    CHECK(stapled(*server, true, "shop.example") == response);
}

TEST_CASE("a response whose time is over is not sent, and warned of") {
    Shop shop;
    shop.staple(shop.authority.ocsp_response(shop.issued, -60));
    const auto server = tls::server(shop.settings());

    REQUIRE(server->warnings().size() == 1);
    CHECK(server->warnings()[0] == shop.files.ocsp_staple + " is too old, so it is not sent");
    CHECK(stapled(*server, true).empty());
}

TEST_CASE("a response about another certificate is a mistake") {
    Shop shop;
    const Issued other = shop.authority.issue({});
    shop.staple(shop.authority.ocsp_response(other));

    CHECK(
        mistake_in(shop.settings()) ==
        shop.files.ocsp_staple + " holds an OCSP response about another certificate");
}

} // namespace stint::tls
