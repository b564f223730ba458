// Sessions that a client resumes.
#include "handshake.hpp"
#include "made_certificates.hpp"
#include "tls/session_store.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace stint::tls {

namespace {

struct World {
    Folder folder;
    Authority authority;
    std::shared_ptr<const Client> client = tls::client(
        {.ca = folder.write("ca.pem", authority.pem()), .crl = {}, .certificate = {}, .key = {}});

    [[nodiscard]] std::shared_ptr<const Server> shop(const std::string& ciphers = {}) const {
        const Issued issued = authority.issue({.names = {"DNS:shop.example", "DNS:other.example"}});
        return server(
            {.certificates = {issued.in(folder, "shop")}, .ciphers = ciphers, .client_ca = {}});
    }
    [[nodiscard]] bool
    resumes(const Server& server, const std::string& name = "shop.example") const {
        const Handshake both = shake(client->connect(name), server.accept(), name);
        REQUIRE(both.done);
        return both.resumed();
    }
};

} // namespace

TEST_CASE("the last session with a server is resumed, and with no other") {
    const World world;
    const auto server = world.shop();

    CHECK_FALSE(world.resumes(*server));
    CHECK(world.resumes(*server));
    CHECK(world.resumes(*server));
    CHECK_FALSE(world.resumes(*server, "other.example"));
}

TEST_CASE("a server that does not know the session gets a full handshake") {
    const World world;

    CHECK_FALSE(world.resumes(*world.shop()));
    CHECK_FALSE(world.resumes(*world.shop()));
}

TEST_CASE("a ticket of TLS 1.3 is shown to the server once") {
    const World world;
    const auto server = world.shop();
    REQUIRE_FALSE(world.resumes(*server));

    const SslPtr first = world.client->connect("shop.example");
    const SslPtr second = world.client->connect("shop.example");

    CHECK(SSL_get_session(first.get()) != nullptr);
    CHECK(SSL_get_session(second.get()) == nullptr);
}

TEST_CASE("a connection outlives its client, and may still bring a session") {
    World world;
    const auto server = world.shop();
    SslPtr ssl = world.client->connect("shop.example");
    world.client.reset();

    CHECK(shake(std::move(ssl), server->accept()).done);
}

TEST_CASE("the newest sessions are kept, and so many alone") {
    SessionStore store;
    SessionStore::Remembered* const shop = store.of("shop.example");
    REQUIRE(shop != nullptr);
    CHECK(store.of("shop.example") == shop);
    CHECK(store.of("other.example") != shop);
    std::vector<SSL_SESSION*> made;
    for (std::size_t i = 0; i < SessionStore::most_sessions + 2; ++i) {
        SessionPtr session{SSL_SESSION_new()};
        SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION);
        made.push_back(session.get());
        store.put(*shop, std::move(session));
    }

    for (std::size_t i = 0; i < SessionStore::most_sessions; ++i)
        CHECK(store.take(*shop).get() == made[made.size() - 1 - i]);
    CHECK(store.take(*shop) == nullptr);
}

TEST_CASE("a session of TLS 1.2 serves many connections") {
    SessionStore store;
    SessionStore::Remembered* const shop = store.of("shop.example");
    SessionPtr session{SSL_SESSION_new()};
    SSL_SESSION_set_protocol_version(session.get(), TLS1_2_VERSION);
    const SSL_SESSION* const made = session.get();
    store.put(*shop, std::move(session));

    CHECK(store.take(*shop).get() == made);
    CHECK(store.take(*shop).get() == made);
}

TEST_CASE("names are bounded, and more servers than that are met without memory") {
    SessionStore store;
    for (std::size_t i = 0; i < SessionStore::most_names; ++i)
        REQUIRE(store.of(std::to_string(i)) != nullptr);

    CHECK(store.of("one more") == nullptr);
    CHECK(store.of("0") != nullptr);
}

} // namespace stint::tls
