// Whom a client believes, and what it remembers.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

struct World {
    Folder folder;
    Authority authority;
    std::string ca = folder.write("ca.pem", authority.pem());

    [[nodiscard]] std::shared_ptr<const Server> serve(const Issued& issued) const {
        return server(
            {.certificates = {issued.in(folder, "shop")}, .ciphers = {}, .client_ca = {}});
    }
    [[nodiscard]] std::shared_ptr<const Server> shop() const {
        return serve(authority.issue(request()));
    }
    static Wish request() { return {.names = {"DNS:shop.example", "IP:192.0.2.1"}}; }
    [[nodiscard]] ClientSettings settings() const {
        return {.ca = ca, .crl = {}, .certificate = {}, .key = {}};
    }
};

Handshake
meet(const Client& client, const Server& server, const std::string& name = "shop.example") {
    return shake(client.connect(name), server.accept(), name);
}

std::string reason(const Client& client, const Server& server, const std::string& name) {
    const Handshake both = meet(client, server, name);
    CHECK_FALSE(both.done);
    return both.client_reason;
}

} // namespace

TEST_CASE("a server whose certificate is for the name and signed by the authority is believed") {
    const World world;
    const auto server = world.shop();
    const auto client = tls::client(world.settings());

    const Handshake both = meet(*client, *server);
    CHECK(both.done);
    CHECK(both.protocol() == "http/1.1");
    CHECK(
        SSL_get_servername(both.server.get(), TLSEXT_NAMETYPE_host_name) ==
        std::string_view{"shop.example"});
    CHECK(client->verifies());
}

TEST_CASE("an address is verified as one, and not told as a name") {
    const World world;
    const auto server = world.shop();
    const auto client = tls::client(world.settings());

    const Handshake both = meet(*client, *server, "192.0.2.1");
    CHECK(both.done);
    CHECK(SSL_get_servername(both.server.get(), TLSEXT_NAMETYPE_host_name) == nullptr);
    CHECK(
        reason(*client, *server, "192.0.2.2") ==
        "its certificate is for shop.example, 192.0.2.1, not for 192.0.2.2");
}

TEST_CASE("why a server is not believed is said") {
    const World world;
    const auto client = tls::client(world.settings());
    Wish request = World::request();
    const std::string name = "shop.example";

    request.ends = -60;
    CHECK(
        reason(*client, *world.serve(world.authority.issue(request)), name) ==
        "its certificate has expired");
    request = World::request();
    request.begins = 3600;
    CHECK(
        reason(*client, *world.serve(world.authority.issue(request)), name) ==
        "its certificate is not valid yet");
    CHECK(
        reason(*client, *world.serve(self_signed(World::request())), name) ==
        "its certificate is self-signed");
    CHECK(
        reason(*client, *world.serve(Authority{"Stranger"}.issue(World::request())), name) ==
        "it is not signed by a known authority");
    CHECK(
        reason(*client, *world.shop(), "other.example") ==
        "its certificate is for shop.example, 192.0.2.1, not for other.example");
}

TEST_CASE("a certificate with many names is not listed whole, and one without says so") {
    const World world;
    const auto client = tls::client(world.settings());
    const Wish many{.names = {"DNS:a.example", "DNS:b.example", "DNS:c.example", "DNS:d.example"}};
    const Wish odd{.common_name = "a shop", .names = {}};

    CHECK(
        reason(*client, *world.serve(world.authority.issue(many)), "shop.example") ==
        "its certificate is for a.example, b.example, c.example and others, not for "
        "shop.example");
    CHECK(
        reason(*client, *world.serve(world.authority.issue(odd)), "shop.example") ==
        "its certificate is for no name, not for shop.example");
}

TEST_CASE("the system's store does not know a test's authority") {
    const World world;
    const auto client = tls::client({.ca = {}, .crl = {}, .certificate = {}, .key = {}});

    CHECK(
        reason(*client, *world.shop(), "shop.example") == "it is not signed by a known authority");
}

TEST_CASE("a server's own certificate may be what is believed") {
    const World world;
    const Issued issued = self_signed(World::request());
    ClientSettings settings = world.settings();
    settings.ca = world.folder.write("own.pem", issued.pem());

    CHECK(meet(*tls::client(settings), *world.serve(issued)).done);
}

TEST_CASE("a revoked certificate is not believed, whichever file says so") {
    const World world;
    const Issued revoked = world.authority.issue(World::request());
    const std::string list = world.authority.revocations({&revoked});
    ClientSettings settings = world.settings();
    SUBCASE("in ca") {
        world.folder.write("ca.pem", world.authority.pem() + list);
    }
    SUBCASE("in crl") {
        settings.crl = world.folder.write("crl.pem", list);
    }
    const auto client = tls::client(settings);

    CHECK(reason(*client, *world.serve(revoked), "shop.example") == "its certificate was revoked");
    CHECK(meet(*client, *world.shop()).done);
}

TEST_CASE("an authority without a list of revocations is believed beside one that has one") {
    const World world;
    const Authority other{"Other"};
    const Issued revoked = world.authority.issue(World::request());
    world.folder.write(
        "ca.pem", world.authority.pem() + world.authority.revocations({&revoked}) + other.pem());

    CHECK(meet(*tls::client(world.settings()), *world.serve(other.issue(World::request()))).done);
}

TEST_CASE("a list of revocations that is too old is not relied on") {
    const World world;
    world.folder.write("ca.pem", world.authority.pem() + world.authority.revocations({}, -60));

    CHECK(
        reason(*tls::client(world.settings()), *world.shop(), "shop.example") ==
        "the list of revoked certificates (CRL) has expired");
}

TEST_CASE(
    "an intermediate authority is believed beside lists of revocations, unless they name it") {
    const World world;
    const Authority& root = world.authority;
    const Authority middle = root.intermediate("Middle");
    const Issued issued = middle.issue(World::request());
    const Issued revoked = middle.issue(World::request());
    const std::string lists_of_middle = middle.revocations({&revoked});
    for (const bool names_key : {false, true})
        for (const bool root_is_known : {false, true}) {
            CAPTURE(names_key);
            CAPTURE(root_is_known);
            const auto client_with = [&](const std::string& list_of_root) {
                world.folder.write(
                    "ca.pem", (root_is_known ? root.pem() : "") + middle.pem() + lists_of_middle +
                                  list_of_root);
                return tls::client(world.settings());
            };
            const auto good = client_with(root.revocations({}, 3600, names_key));
            const Handshake both = meet(*good, *world.serve(issued));
            CHECK_MESSAGE(both.done, both.client_reason);
            CHECK(
                reason(*good, *world.serve(revoked), "shop.example") ==
                "its certificate was revoked");
            const auto strict = client_with(root.revocations({&middle.own()}, 3600, names_key));
            CHECK(
                reason(*strict, *world.serve(issued), "shop.example") ==
                "its certificate was revoked");
            const auto late = client_with(root.revocations({}, -60, names_key));
            CHECK(
                reason(*late, *world.serve(issued), "shop.example") ==
                "the list of revoked certificates (CRL) has expired");
        }
}

TEST_CASE(
    "a list of revocations that the authority of an intermediate has not signed is not relied on") {
    const World world;
    const Authority middle = world.authority.intermediate("Middle");
    const Authority stranger; // of the same name
    world.folder.write("ca.pem", world.authority.pem() + middle.pem() + stranger.revocations({}));

    CHECK(
        reason(
            *tls::client(world.settings()), *world.serve(middle.issue(World::request())),
            "shop.example") == "the list of revoked certificates (CRL) is forged");
}

TEST_CASE(
    "a list of revocations of another key of the same authority is not about an intermediate") {
    const World world;
    const Authority middle = world.authority.intermediate("Middle");
    const Authority former; // of the same name
    world.folder.write(
        "ca.pem",
        world.authority.pem() + middle.pem() + former.revocations({&middle.own()}, 3600, true));

    CHECK(meet(*tls::client(world.settings()), *world.serve(middle.issue(World::request()))).done);
}

TEST_CASE("without verification everybody is believed") {
    const World world;
    ClientSettings settings = world.settings();
    settings.verify = false;
    const auto client = tls::client(settings);

    CHECK_FALSE(client->verifies());
    CHECK(meet(*client, *world.serve(self_signed(World::request())), "other.example").done);
}

TEST_CASE("a client shows its certificate") {
    const World world;
    const KeyPair robot =
        world.authority.issue({.common_name = "robot", .names = {}}).in(world.folder, "robot");
    const KeyPair shop = world.authority.issue(World::request()).in(world.folder, "shop");
    const auto server = tls::server(
        {.certificates = {shop},
         .ciphers = {},
         .client_ca = world.ca,
         .client_certificate = ServerSettings::ClientCertificate::required});
    ClientSettings settings = world.settings();
    CHECK(meet(*tls::client(settings), *server).client_reason == "it asks for a certificate");
    settings.certificate = robot.certificate;
    settings.key = robot.key;

    const Handshake both = meet(*tls::client(settings), *server);

    REQUIRE(both.done);
    CHECK(peer_subject(*both.server) == "CN=robot");
}

TEST_CASE("what a client's settings name and cannot be used is said") {
    const World world;
    ClientSettings settings = world.settings();
    settings.crl = world.ca;
    CHECK(mistake_in(settings) == world.ca + " holds no list of revocations (CRL) in PEM");
    settings.crl = world.folder.path("none");
    CHECK(mistake_in(settings) == settings.crl + " cannot be read: No such file or directory");
    settings = world.settings();
    settings.certificate = world.ca;
    settings.key = world.ca;
    CHECK(mistake_in(settings) == world.ca + " holds no private key in PEM");
}

} // namespace stint::tls
