#include "handshake.hpp"

#include <doctest/doctest.h>

#include <openssl/err.h>
#include <utility>

namespace stint::tls {

namespace {

enum class End { under_way, done, failed };

// Notes why, once: the queue of errors is the thread's, so the reason is asked for at once.
End go_on(SSL* ssl, End before, const std::string& expected, std::string& reason) {
    if (before != End::under_way)
        return before;
    ERR_clear_error();
    const int outcome = SSL_do_handshake(ssl);
    if (outcome == 1)
        return End::done;
    const int error = SSL_get_error(ssl, outcome);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return End::under_way;
    reason = reason_of_failure(*ssl, expected);
    return End::failed;
}

// A byte from one end to the other. What arrives instead may be an alert.
bool send_byte(SSL* from, SSL* to, const std::string& expected, std::string& reason) {
    char byte = 'x';
    ERR_clear_error();
    (void)SSL_write(from, &byte, 1);
    if (SSL_read(to, &byte, 1) == 1)
        return true;
    reason = reason_of_failure(*to, expected);
    return false;
}

} // namespace

std::string Handshake::shown() const {
    char name[256]{};
    X509_NAME_get_text_by_NID(
        X509_get_subject_name(SSL_get0_peer_certificate(client.get())), NID_commonName, name,
        sizeof name);
    return name;
}

std::string Handshake::protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(client.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

Handshake shake(SslPtr client, SslPtr server, const std::string& expected_name) {
    Handshake both{std::move(client), std::move(server), false, {}, {}};
    BIO* left = nullptr;
    BIO* right = nullptr;
    REQUIRE(BIO_new_bio_pair(&left, 0, &right, 0) == 1);
    SSL_set_bio(both.client.get(), left, left);
    SSL_set_bio(both.server.get(), right, right);
    End at_client = End::under_way;
    End at_server = End::under_way;
    for (int round = 0; round < 10; ++round) {
        at_client = go_on(both.client.get(), at_client, expected_name, both.client_reason);
        at_server = go_on(both.server.get(), at_server, {}, both.server_reason);
    }
    // In TLS 1.3 a client is done before the server has looked at its certificate.
    if (at_client == End::done)
        both.done =
            send_byte(both.server.get(), both.client.get(), expected_name, both.client_reason);
    both.done = both.done && at_server == End::done &&
                send_byte(both.client.get(), both.server.get(), {}, both.server_reason);
    CHECK(ERR_peek_error() == 0);
    return both;
}

SslPtr AnyClient::connect(const std::string& name, SSL_SESSION* session) const {
    SslPtr ssl{SSL_new(context_.get())};
    SSL_set_connect_state(ssl.get());
    if (!name.empty())
        SSL_set_tlsext_host_name(ssl.get(), name.c_str());
    if (session != nullptr)
        SSL_set_session(ssl.get(), session);
    return ssl;
}

std::shared_ptr<TicketKeys> new_keys() {
    return std::make_shared<TicketKeys>(SteadyTime{});
}

std::shared_ptr<const Server>
server(const ServerSettings& settings, std::shared_ptr<TicketKeys> keys) {
    auto made = Server::make(settings, std::move(keys));
    if (!made)
        FAIL(made.error());
    CHECK(ERR_peek_error() == 0);
    return *made;
}

std::shared_ptr<const Client> client(const ClientSettings& settings) {
    auto made = Client::make(settings);
    if (!made)
        FAIL(made.error());
    CHECK(ERR_peek_error() == 0);
    return *made;
}

std::string mistake_in(const ServerSettings& settings) {
    const auto made = Server::make(settings, new_keys());
    CHECK(ERR_peek_error() == 0);
    return made ? "nothing is wrong" : made.error();
}

std::string mistake_in(const ClientSettings& settings) {
    const auto made = Client::make(settings);
    CHECK(ERR_peek_error() == 0);
    return made ? "nothing is wrong" : made.error();
}

} // namespace stint::tls
