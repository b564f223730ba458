#include "tls/tickets.hpp"

#include "tls/openssl.hpp"

#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <string>
#include <utility>

namespace stint::tls {

namespace {

struct Sealing {
    std::shared_ptr<TicketKeys> keys;
};

// Returns the cipher, fetched once, because OpenSSL would otherwise look it up for every ticket.
const EVP_CIPHER* cipher() noexcept {
    static const EVP_CIPHER* const found = EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr);
    return found;
}

bool use_checksum(EVP_MAC_CTX* checksum, TicketKeys::Key& key) {
    std::string digest = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(
            OSSL_MAC_PARAM_KEY, key.checksum.data(), key.checksum.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(checksum, parameters) == 1;
}

int seal(
    TicketKeys::Key key,
    unsigned char* name,
    unsigned char* iv,
    EVP_CIPHER_CTX* context,
    EVP_MAC_CTX* checksum) {
    std::copy(key.name.begin(), key.name.end(), name);
    const bool done = RAND_bytes(iv, EVP_CIPHER_get_iv_length(cipher())) == 1 &&
                      EVP_EncryptInit_ex2(context, cipher(), key.cipher.data(), iv, nullptr) == 1 &&
                      use_checksum(checksum, key);
    OPENSSL_cleanse(&key, sizeof key);
    return done ? 1 : -1;
}

int open(
    TicketKeys::Found found,
    const unsigned char* iv,
    EVP_CIPHER_CTX* context,
    EVP_MAC_CTX* checksum,
    bool once_only) {
    constexpr int good = 1;
    constexpr int good_but_replace_it = 2;
    TicketKeys::Key& key = found.key;
    const bool done = EVP_DecryptInit_ex2(context, cipher(), key.cipher.data(), iv, nullptr) == 1 &&
                      use_checksum(checksum, key);
    OPENSSL_cleanse(&key, sizeof key);
    if (!done)
        return -1;
    return found.newest && !once_only ? good : good_but_replace_it;
}

int on_ticket(
    SSL* ssl,
    unsigned char* name,
    unsigned char* iv,
    EVP_CIPHER_CTX* context,
    EVP_MAC_CTX* checksum,
    int sealing) {
    const Sealing* with = Attached<Sealing>::find(SSL_get_SSL_CTX(ssl));
    if (with == nullptr || cipher() == nullptr)
        return -1;
    if (sealing == 1)
        return seal(with->keys->newest(), name, iv, context, checksum);
    const auto found = with->keys->find(name);
    if (!found)
        return 0; // 0 means a full handshake and a new ticket
    // A TLS 1.3 client uses a ticket only once (RFC 8446 appendix C.4), so each resumption issues a
    // new one.
    return open(*found, iv, context, checksum, SSL_version(ssl) >= TLS1_3_VERSION);
}

} // namespace

void use_tickets(SSL_CTX& context, std::shared_ptr<TicketKeys> keys) {
    Attached<Sealing>::attach(context, std::make_unique<Sealing>(Sealing{std::move(keys)}));
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(&context, &on_ticket);
    SSL_CTX_set_timeout(
        &context, static_cast<long>(std::chrono::seconds{TicketKeys::ticket_life}.count()));
    // One ticket per handshake is enough, because each resumption issues the next one.
    SSL_CTX_set_num_tickets(&context, 1);
}

} // namespace stint::tls
