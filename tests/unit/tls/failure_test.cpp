// Reasons that have nothing to do with certificates.
#include "handshake.hpp"
#include "made_certificates.hpp"

#include <doctest/doctest.h>

#include <openssl/err.h>

namespace stint::tls {

namespace {

// What a client says of a server that answers with these bytes and then closes.
std::string reason_for(std::string_view answer) {
    const SslPtr ssl = AnyClient{}.connect();
    BIO* in = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in, 0);
    SSL_set_bio(ssl.get(), in, BIO_new(BIO_s_mem()));
    BIO_write(in, answer.data(), static_cast<int>(answer.size()));
    ERR_clear_error();
    REQUIRE(SSL_do_handshake(ssl.get()) <= 0);
    std::string reason = reason_of_failure(*ssl, "shop.example");
    CHECK(ERR_peek_error() == 0);
    return reason;
}

} // namespace

TEST_CASE("a server that answers in plain text does not speak TLS") {
    CHECK(reason_for("HTTP/1.1 400 Bad Request\r\n\r\n") == "it does not speak TLS");
    CHECK(reason_for("SSH-2.0-OpenSSH_9.2p1\r\n") == "it does not speak TLS");
}

TEST_CASE("a server that closes is said to") {
    CHECK(reason_for("") == "it closed the connection during the handshake");
}

TEST_CASE("an alert is told in words, also one that has none of ours") {
    using namespace std::string_view_literals;
    CHECK(
        reason_for("\x15\x03\x03\x00\x02\x02\x28"sv) ==
        "it found no common ground (alert handshake_failure)");
    CHECK(
        reason_for("\x15\x03\x03\x00\x02\x02\x50"sv) ==
        "the handshake failed: tlsv1 alert internal error");
}

} // namespace stint::tls
