// Sessions that go on with another server, or do not.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

namespace stint::tls {

namespace {

// Remembers the newest session of its handshakes.
struct Visitor {
    AnyClient client;
    SessionPtr session;

    explicit Visitor(int version = TLS1_3_VERSION) {
        SSL_CTX_set_max_proto_version(client.context(), version);
        SSL_CTX_set_session_cache_mode(client.context(), SSL_SESS_CACHE_CLIENT);
        SSL_CTX_set_app_data(client.context(), this);
        SSL_CTX_sess_set_new_cb(client.context(), [](SSL* ssl, SSL_SESSION* got) {
            static_cast<Visitor*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))->session.reset(got);
            return 1;
        });
    }

    // Whether the session was resumed.
    bool visit(const Server& server, const std::string& name = "shop.example") {
        const SessionPtr former = std::move(session);
        const Handshake both = shake(client.connect(name, former.get()), server.accept());
        REQUIRE(both.done);
        if (!session) // TLS 1.2 replaces a session that is resumed without telling
            session.reset(SSL_get1_session(both.client.get()));
        return both.resumed();
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

struct Shop {
    Folder folder;
    Authority authority;

    [[nodiscard]] ServerSettings settings(const std::string& name = "shop.example") const {
        const Issued issued = authority.issue({.common_name = name, .names = {"DNS:" + name}});
        return {.certificates = {issued.in(folder, name)}, .ciphers = {}, .client_ca = {}};
    }
};

} // namespace

TEST_CASE("a session goes on with another server that has the same keys, and not otherwise") {
    const Shop shop;
    const auto keys = new_keys();
    const auto first = server(shop.settings(), keys);
    const auto second = server(shop.settings(), keys); // a renewed certificate
    const auto stranger = server(shop.settings());
    Visitor visitor{each_version()};

    CHECK_FALSE(visitor.visit(*first));
    CHECK(visitor.visit(*first));
    CHECK(visitor.visit(*second));
    CHECK_FALSE(visitor.visit(*stranger));
}

TEST_CASE("a session is good until its key was replaced twice") {
    const Shop shop;
    const auto keys = new_keys();
    const auto server = tls::server(shop.settings(), keys);
    Visitor visitor{each_version()};
    Visitor late{each_version()};
    REQUIRE_FALSE(visitor.visit(*server));
    REQUIRE_FALSE(late.visit(*server));

    keys->rotate(SteadyTime{TicketKeys::key_life});
    CHECK(visitor.visit(*server)); // and its ticket is replaced
    keys->rotate(SteadyTime{2 * TicketKeys::key_life});

    CHECK(visitor.visit(*server));
    CHECK_FALSE(late.visit(*server));
}

TEST_CASE("each resumption brings the next ticket") {
    const Shop shop;
    const auto server = tls::server(shop.settings());
    Visitor visitor;
    REQUIRE_FALSE(visitor.visit(*server));

    for (int i = 0; i < 3; ++i)
        CHECK(visitor.visit(*server));
}

TEST_CASE("a session with one name is not good for another") {
    const Shop shop;
    ServerSettings settings = shop.settings("shop.example");
    settings.certificates.push_back(shop.settings("other.example").certificates.front());
    const auto server = tls::server(settings);
    Visitor visitor{each_version()};

    REQUIRE_FALSE(visitor.visit(*server, "other.example"));
    CHECK(visitor.visit(*server, "other.example"));
    CHECK_FALSE(visitor.visit(*server, "shop.example"));
}

TEST_CASE("a session from before clients were asked for a certificate is not good any more") {
    const Shop shop;
    const auto keys = new_keys();
    const auto before = server(shop.settings(), keys);
    ServerSettings settings = shop.settings();
    settings.client_ca = shop.folder.write("ca.pem", shop.authority.pem());
    settings.client_certificate = ServerSettings::ClientCertificate::optional;
    const auto after = server(settings, keys);
    Visitor visitor{each_version()};

    REQUIRE_FALSE(visitor.visit(*before));
    CHECK_FALSE(visitor.visit(*after));
    CHECK(visitor.visit(*after));

    shop.folder.write("ca.pem", Authority{}.pem());
    const auto other_authority = server(settings, keys);
    CHECK_FALSE(visitor.visit(*other_authority));
}

TEST_CASE("a resumed session still knows its client's subject") {
    const Shop shop;
    ServerSettings settings = shop.settings();
    settings.client_ca = shop.folder.write("ca.pem", shop.authority.pem());
    settings.client_certificate = ServerSettings::ClientCertificate::required;
    const auto server = tls::server(settings);
    Visitor visitor{each_version()};
    const Issued robot = shop.authority.issue({.common_name = "robot", .names = {}});
    SSL_CTX_use_certificate(visitor.client.context(), robot.certificate.get());
    SSL_CTX_use_PrivateKey(visitor.client.context(), robot.key.get());
    REQUIRE_FALSE(visitor.visit(*server));
    const SessionPtr session = std::move(visitor.session);

    const Handshake both =
        shake(visitor.client.connect("shop.example", session.get()), server->accept());

    REQUIRE(both.done);
    CHECK(both.resumed());
    CHECK(peer_subject(*both.server) == "CN=robot");
}

} // namespace stint::tls
