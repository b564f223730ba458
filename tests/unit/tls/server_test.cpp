// What clients are offered.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

#include <openssl/err.h>
#include <openssl/sslerr.h>

namespace stint::tls {

namespace {

// A server for several names: an exact one, a wildcard, and a default.
struct Names {
    Folder folder;
    Authority authority;
    std::shared_ptr<const Server> server;

    Names() {
        ServerSettings settings;
        const auto add = [&](const std::string& name, std::vector<std::string> names) {
            settings.certificates.push_back(
                authority.issue({.common_name = name, .names = std::move(names)}).in(folder, name));
        };
        add("default", {"DNS:default.example"});
        add("exact", {"DNS:www.shop.example", "DNS:shop.example"});
        add("wildcard", {"DNS:*.shop.example"});
        add("late", {"DNS:shop.example"});
        add("old-style", {});
        server = tls::server(settings);
    }

    [[nodiscard]] std::string shown_for(const std::string& name) const {
        const Handshake both = shake(AnyClient{}.connect(name), server->accept());
        REQUIRE(both.done);
        return both.shown();
    }
};

ServerSettings simple(const Folder& folder) {
    const Issued issued = self_signed({.names = {"DNS:shop.example"}});
    return {.certificates = {issued.in(folder, "shop")}, .ciphers = {}, .client_ca = {}};
}

bool was_told(SSL*, int reason, const std::string& text) {
    return text.find(ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason))) !=
           std::string::npos;
}

} // namespace

TEST_CASE("the name that a client asks for chooses the certificate") {
    const Names names;

    CHECK(names.shown_for("www.shop.example") == "exact");
    CHECK(names.shown_for("shop.example") == "exact");
    CHECK(names.shown_for("SHOP.example") == "exact");
    CHECK(names.shown_for("shop.example.") == "exact");
    CHECK(names.shown_for("img.shop.example") == "wildcard");
    CHECK(names.shown_for("a.img.shop.example") == "default");
    CHECK(names.shown_for("other.example") == "default");
    CHECK(names.shown_for("default.example") == "default");
    CHECK(names.shown_for("") == "default");
}

TEST_CASE("a name of no certificate may be refused before the client sees any") {
    const Folder folder;
    const Authority authority;
    ServerSettings settings;
    settings.refuses_unknown_names = true;
    settings.certificates.push_back(
        authority.issue({.common_name = "a", .names = {"DNS:a.example"}}).in(folder, "a"));
    SUBCASE("of one certificate") {}
    SUBCASE("of two") {
        settings.certificates.push_back(
            authority.issue({.common_name = "b", .names = {"DNS:*.b.example"}}).in(folder, "b"));
        CHECK(shake(AnyClient{}.connect("x.b.example"), tls::server(settings)->accept()).done);
    }
    const auto server = tls::server(settings);

    CHECK(shake(AnyClient{}.connect("A.example"), server->accept()).done);
    for (const std::string name : {"c.example", "x.a.example", ""}) {
        CAPTURE(name);
        const Handshake both = shake(AnyClient{}.connect(name), server->accept());

        CHECK_FALSE(both.done);
        CHECK(both.client_reason == "it has no such name"); // alert unrecognized_name
        CHECK(both.server_reason == "it asks for a name of no certificate");
        CHECK(SSL_get0_peer_certificate(both.client.get()) == nullptr);
    }
}

TEST_CASE("certificates without any name cannot refuse the others") {
    const Folder folder;
    const Issued nameless = self_signed({.common_name = "", .names = {"IP:192.0.2.1"}});

    const std::string mistake = mistake_in(ServerSettings{
        .certificates = {nameless.in(folder, "a")},
        .ciphers = {},
        .client_ca = {},
        .refuses_unknown_names = true});

    CHECK(
        mistake.ends_with("a.pem has no name, so unknown_names: refuse would refuse every client"));
}

TEST_CASE("a common name counts where there is no other name") {
    const Names names;

    CHECK(names.shown_for("old-style") == "old-style");
    CHECK(names.shown_for("wildcard") == "default");
}

TEST_CASE("of a certificate for RSA and one for ECDSA the client's abilities choose") {
    const Folder folder;
    const Authority authority;
    const Wish ecdsa{.common_name = "ecdsa", .names = {"DNS:shop.example"}};
    const Wish rsa{.common_name = "rsa", .names = {"DNS:shop.example"}, .rsa = true};
    const auto server = tls::server(
        {.certificates =
             {authority.issue(ecdsa).in(folder, "e"), authority.issue(rsa).in(folder, "r")},
         .ciphers = {},
         .client_ca = {}});
    const AnyClient client;
    const char* kinds = "RSA-PSS+SHA256";
    const char* shown = "rsa";
    SUBCASE("RSA") {}
    SUBCASE("ECDSA") {
        kinds = "ECDSA+SHA256";
        shown = "ecdsa";
    }
    REQUIRE(SSL_CTX_set1_sigalgs_list(client.context(), kinds) == 1);

    const Handshake both = shake(client.connect("shop.example"), server->accept());

    REQUIRE(both.done);
    CHECK(both.shown() == shown);
}

TEST_CASE("TLS 1.2 and 1.3 are spoken, or 1.3 alone") {
    const Folder folder;
    ServerSettings settings = simple(folder);
    const AnyClient client;
    bool done = true;
    int version = TLS1_2_VERSION;
    SUBCASE("1.2") {}
    SUBCASE("1.3") {
        version = TLS1_3_VERSION;
    }
    SUBCASE("1.2 where 1.3 is asked for") {
        settings.min_version = Version::tls_1_3;
        done = false;
    }
    SSL_CTX_set_max_proto_version(client.context(), version);

    const Handshake both = shake(client.connect(), tls::server(settings)->accept());

    CHECK(both.done == done);
    if (done) {
        CHECK(both.version() == version);
    } else {
        CHECK(both.server_reason == "no common protocol version");
        CHECK(both.client_reason == "no common protocol version");
    }
}

TEST_CASE("TLS 1.1 is not spoken, whoever asks for it") {
    const Folder folder;
    const AnyClient client;
    SSL_CTX_set_security_level(client.context(), 0);
    SSL_CTX_set_min_proto_version(client.context(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(client.context(), TLS1_1_VERSION);

    const Handshake both = shake(client.connect(), tls::server(simple(folder))->accept());

    CHECK_FALSE(both.done);
    CHECK(both.server_reason == "no common protocol version");
}

TEST_CASE("without forward secrecy and authenticated encryption there is no common cipher") {
    const Folder folder;
    ServerSettings settings = simple(folder);
    const AnyClient client;
    SSL_CTX_set_max_proto_version(client.context(), TLS1_2_VERSION);
    bool done = false;
    const char* ciphers = "ECDHE-ECDSA-AES128-SHA256";
    SUBCASE("CBC") {}
    SUBCASE("GCM") {
        ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
        done = true;
    }
    SUBCASE("CBC where the settings allow it") {
        settings.ciphers = "ECDHE-ECDSA-AES128-SHA256";
        done = true;
    }
    SUBCASE("GCM where the settings leave it out") {
        ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
        settings.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256";
    }
    REQUIRE(SSL_CTX_set_cipher_list(client.context(), ciphers) == 1);

    const Handshake both = shake(client.connect(), tls::server(settings)->accept());

    CHECK(both.done == done);
    if (!done)
        CHECK(both.server_reason == "no common cipher");
}

TEST_CASE("ALPN chooses http/1.1, and a client that only speaks others is told so") {
    const Folder folder;
    const auto server = tls::server(simple(folder));
    const AnyClient client;
    std::string offered;
    std::string chosen = "http/1.1";
    bool done = true;
    SUBCASE("both") {
        offered = "\x02h2\x08http/1.1";
    }
    SUBCASE("none is offered") {
        chosen = "";
    }
    SUBCASE("h2 alone") {
        offered = "\x02h2";
        done = false;
    }
    if (!offered.empty())
        SSL_CTX_set_alpn_protos(
            client.context(), reinterpret_cast<const unsigned char*>(offered.data()),
            static_cast<unsigned>(offered.size()));

    const Handshake both = shake(client.connect(), server->accept());

    REQUIRE(both.done == done);
    if (done) {
        CHECK(both.protocol() == chosen);
    } else {
        CHECK(both.server_reason == "it speaks no HTTP/1.1 (ALPN)");
        CHECK(was_told(
            both.client.get(), SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, both.client_reason));
    }
}

TEST_CASE("a client may not renegotiate") {
    const Folder folder;
    const AnyClient client;
    SSL_CTX_set_max_proto_version(client.context(), TLS1_2_VERSION);
    SSL_CTX_clear_options(client.context(), SSL_OP_NO_RENEGOTIATION);
    const Handshake both = shake(client.connect(), tls::server(simple(folder))->accept());
    REQUIRE(both.done);

    REQUIRE(SSL_renegotiate(both.client.get()) == 1);
    (void)SSL_do_handshake(both.client.get());
    char byte = 0;
    (void)SSL_read(both.server.get(), &byte, 1);
    ERR_clear_error();

    CHECK(SSL_do_handshake(both.client.get()) != 1);
    CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

TEST_CASE("the reason says so where a client speaks no TLS") {
    const Folder folder;
    const SslPtr ssl = tls::server(simple(folder))->accept();
    BIO* in = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl.get(), in, BIO_new(BIO_s_mem()));
    std::string_view request = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
    SUBCASE("GET") {}
    SUBCASE("CONNECT") {
        request = "CONNECT shop.example:443 HTTP/1.1\r\n\r\n";
    }
    SUBCASE("something else") {
        request = "EHLO mail.example\r\n";
    }
    BIO_write(in, request.data(), static_cast<int>(request.size()));
    ERR_clear_error();

    CHECK(SSL_do_handshake(ssl.get()) == -1);

    CHECK(reason_of_failure(*ssl, "") == "it does not speak TLS");
    CHECK(ERR_peek_error() == 0);
}

TEST_CASE("methods begin with a letter, records of TLS do not") {
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const bool letter =
            std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}.find(
                static_cast<char>(byte)) != std::string_view::npos;
        CHECK(begins_plain_http(static_cast<char>(byte)) == letter);
    }
}

TEST_CASE("a connection outlives its server") {
    const Folder folder;
    auto server = tls::server(simple(folder));
    SslPtr ssl = server->accept();
    server.reset();

    CHECK(shake(AnyClient{}.connect("shop.example"), std::move(ssl)).done);
}

TEST_CASE("a certificate's end is known, and one that has expired is served with a warning") {
    const Folder folder;
    const Issued good = self_signed({.common_name = "good", .names = {"DNS:good.example"}});
    const Issued old =
        self_signed({.common_name = "old", .names = {"DNS:old.example"}, .ends = -60});
    const KeyPair good_files = good.in(folder, "good");
    const KeyPair old_files = old.in(folder, "old");

    const auto server =
        tls::server({.certificates = {good_files, old_files}, .ciphers = {}, .client_ca = {}});

    REQUIRE(server->expiries().size() == 2);
    CHECK(server->expiries()[0].file == good_files.certificate);
    CHECK(server->expiries()[1].file == old_files.certificate);
    const auto between = server->expiries()[0].at - server->expiries()[1].at;
    CHECK(between > std::chrono::hours{30 * 24});
    CHECK(between < std::chrono::hours{30 * 24 + 1});
    REQUIRE(server->warnings().size() == 1);
    CHECK(server->warnings()[0] == old_files.certificate + " has expired");
    CHECK(shake(AnyClient{}.connect("old.example"), server->accept()).shown() == "old");
}

} // namespace stint::tls
