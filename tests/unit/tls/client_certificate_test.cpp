// Certificates of clients.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

using Wanted = ServerSettings::ClientCertificate;

struct Door {
    Folder folder;
    Authority authority;
    Authority stranger{"Stranger"};
    AnyClient client;

    explicit Door(int version) { SSL_CTX_set_max_proto_version(client.context(), version); }

    [[nodiscard]] std::shared_ptr<const Server>
    server(Wanted wanted, const std::string& revocations = {}) const {
        const Issued shop = self_signed({.names = {"DNS:shop.example"}});
        return tls::server(
            {.certificates = {shop.in(folder, "shop")},
             .ciphers = {},
             .client_ca = folder.write("ca.pem", authority.pem() + revocations),
             .client_certificate = wanted});
    }

    void show(const Issued& issued) const {
        REQUIRE(SSL_CTX_use_certificate(client.context(), issued.certificate.get()) == 1);
        REQUIRE(SSL_CTX_use_PrivateKey(client.context(), issued.key.get()) == 1);
    }
};

int each_version() {
    int version = TLS1_3_VERSION;
    SUBCASE("TLS 1.3") {}
    SUBCASE("TLS 1.2") {
        version = TLS1_2_VERSION;
    }
    return version;
}

const Wish robot{.common_name = "robot", .names = {}};

} // namespace

TEST_CASE("a client's certificate that is asked for is verified and names its subject") {
    const Door door{each_version()};
    door.show(door.authority.issue(robot));

    const Handshake both = shake(door.client.connect(), door.server(Wanted::required)->accept());

    REQUIRE(both.done);
    CHECK(peer_subject(*both.server) == "CN=robot");
}

TEST_CASE("a client without a certificate is turned away where one is required") {
    const Door door{each_version()};

    const Handshake both = shake(door.client.connect(), door.server(Wanted::required)->accept());

    CHECK_FALSE(both.done);
    CHECK(both.server_reason == "it showed no certificate");
}

TEST_CASE("a client without a certificate is let in where one is optional, without a subject") {
    const Door door{each_version()};

    const Handshake both = shake(door.client.connect(), door.server(Wanted::optional)->accept());

    REQUIRE(both.done);
    CHECK(peer_subject(*both.server).empty());
}

TEST_CASE("a certificate that cannot be verified is turned away, optional or not") {
    const Door door{each_version()};
    door.show(door.stranger.issue(robot));

    const Handshake both = shake(door.client.connect(), door.server(Wanted::optional)->accept());

    CHECK_FALSE(both.done);
    CHECK(both.server_reason == "it is not signed by a known authority");
}

TEST_CASE("a client's certificate that was revoked is turned away, and no other") {
    const Door door{each_version()};
    const Issued revoked = door.authority.issue(robot);
    const auto server = door.server(Wanted::required, door.authority.revocations({&revoked}));

    door.show(revoked);
    CHECK(
        shake(door.client.connect(), server->accept()).server_reason ==
        "its certificate was revoked");

    door.show(door.authority.issue(robot));
    CHECK(shake(door.client.connect(), server->accept()).done);
}

TEST_CASE("a subject is written as RFC 2253 does, on one line") {
    const Door door{TLS1_3_VERSION};
    door.show(door.authority.issue({.common_name = "a,b\n\xC3\xA4", .names = {}}));

    const Handshake both = shake(door.client.connect(), door.server(Wanted::required)->accept());

    REQUIRE(both.done);
    CHECK(peer_subject(*both.server) == "CN=a\\,b\\0A\xC3\xA4");
}

TEST_CASE("a client is told whose certificates are taken") {
    const Door door{TLS1_3_VERSION};

    const Handshake both = shake(door.client.connect(), door.server(Wanted::optional)->accept());

    const STACK_OF(X509_NAME)* names = SSL_get0_peer_CA_list(both.client.get());
    REQUIRE(sk_X509_NAME_num(names) == 1);
}

} // namespace stint::tls
