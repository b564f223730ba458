#include "tls/client.hpp"

#include "base/ip_address.hpp"
#include "tls/key_pair.hpp"
#include "tls/session_store.hpp"
#include "tls/trust.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string_view>
#include <utility>

namespace stint::tls {

namespace {

constexpr std::string_view offered_protocols = "\x08http/1.1";

// Returns the ex_data index under which a connection (SSL) has its SessionStore::Remembered.
int remembered_index() noexcept {
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// Stores a new session for resumption. Returns 1 if this function takes ownership of the session.
int on_session(SSL* ssl, SSL_SESSION* session) noexcept {
    auto* place = static_cast<SessionStore::Remembered*>(SSL_get_ex_data(ssl, remembered_index()));
    SessionStore* store = Attached<SessionStore>::find(SSL_get_SSL_CTX(ssl));
    if (place == nullptr || store == nullptr || SSL_SESSION_is_resumable(session) != 1)
        return 0;
    SessionPtr owned{session};
    try {
        store->put(*place, std::move(owned));
    } catch (const std::exception&) {
        // Out of memory: the session is dropped and cannot be resumed.
    }
    return 1;
}

void remember_sessions(SSL_CTX& context) {
    Attached<SessionStore>::attach(context, std::make_unique<SessionStore>());
    SSL_CTX_set_session_cache_mode(
        &context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(&context, &on_session);
}

// Sets the name or address for which the server's certificate must be valid, and SNI for a name.
bool expect(SSL* ssl, const std::string& server_name) {
    if (IpAddress::parse(server_name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, server_name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(ssl, server_name.c_str()) == 1;
}

Result<void, std::string> believe(SSL_CTX& context, const ClientSettings& settings) {
    if (settings.ca.empty()) {
        if (SSL_CTX_set_default_verify_paths(&context) != 1)
            return "the system's certificates cannot be read: " + last_reason();
    } else if (auto trusted = trust_file(context, settings.ca, Names::none); !trusted) {
        return trusted;
    }
    return settings.crl.empty() ? Result<void, std::string>{}
                                : heed_revocations(context, settings.crl);
}

} // namespace

Result<std::shared_ptr<const Client>, std::string> Client::make(const ClientSettings& settings) {
    const ErrorsOf cleared;
    const std::shared_ptr<Client> client{new Client};
    client->verifies_ = settings.verify;
    client->context_ = make_context(Side::client);
    SSL_CTX& context = *client->context_;
    if (auto believed = believe(context, settings); !believed)
        return believed.error();
    SSL_CTX_set_verify(
        &context, settings.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, &accept_without_revocations);
    if (!settings.certificate.empty()) {
        const auto pair = load_pair(settings.certificate, settings.key);
        if (!pair)
            return pair.error();
        if (auto used = use_pair(context, *pair, settings.certificate); !used)
            return used.error();
    }
    if (SSL_CTX_set_alpn_protos(
            &context, reinterpret_cast<const unsigned char*>(offered_protocols.data()),
            static_cast<unsigned>(offered_protocols.size())) != 0)
        return "OpenSSL failed: " + last_reason();
    remember_sessions(context);
    return std::shared_ptr<const Client>{client};
}

SslPtr Client::connect(const std::string& server_name) const {
    const ErrorsOf cleared;
    SslPtr ssl{SSL_new(context_.get())};
    if (!ssl || !expect(ssl.get(), server_name))
        return nullptr;
    SSL_set_connect_state(ssl.get());
    SessionStore* store = Attached<SessionStore>::find(context_.get());
    if (SessionStore::Remembered* remembered = store->of(server_name)) {
        SSL_set_ex_data(ssl.get(), remembered_index(), remembered);
        if (const SessionPtr session = store->take(*remembered))
            SSL_set_session(ssl.get(), session.get());
    }
    return ssl;
}

} // namespace stint::tls
