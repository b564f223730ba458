#include "tls/server_rules.hpp"

#include "tls/openssl.hpp"
#include "tls/trust.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <openssl/err.h>
#include <string_view>

namespace stint::tls {

namespace {

// Ciphers of TLS 1.2 with forward secrecy and authenticated encryption, the cheapest first.
constexpr const char* default_ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                                        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
                                        "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* default_suites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

// ALPN protocols in order of preference, each preceded by its length.
constexpr std::string_view only_http1 = "\x08http/1.1";
constexpr std::string_view with_http2 = "\x02h2\x08http/1.1";

// True if HTTP/2 may be spoken over the cipher that was chosen (RFC 9113 section 9.2.2): clients
// refuse it over ciphers of TLS 1.2 without forward secrecy and authenticated encryption.
bool fits_http2(const SSL* ssl) noexcept {
    const SSL_CIPHER* const cipher = SSL_get_pending_cipher(ssl);
    if (cipher == nullptr || SSL_version(ssl) != TLS1_2_VERSION)
        return true;
    const int exchange = SSL_CIPHER_get_kx_nid(cipher);
    return SSL_CIPHER_is_aead(cipher) == 1 && (exchange == NID_kx_ecdhe || exchange == NID_kx_dhe);
}

int on_protocols(
    SSL* ssl,
    const unsigned char** out,
    unsigned char* size,
    const unsigned char* offered,
    unsigned offered_size,
    void* offers_http2) noexcept {
    const bool http2 = offers_http2 != nullptr && fits_http2(ssl);
    const std::string_view protocols = http2 ? with_http2 : only_http1;
    unsigned char* chosen = nullptr;
    const int outcome = SSL_select_next_proto(
        &chosen, size, reinterpret_cast<const unsigned char*>(protocols.data()),
        static_cast<unsigned>(protocols.size()), offered, offered_size);
    *out = chosen;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Acknowledges the client's server name (SNI) in the handshake.
int on_server_name(SSL* ssl, int*, void*) noexcept {
    return SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) != nullptr ? SSL_TLSEXT_ERR_OK
                                                                         : SSL_TLSEXT_ERR_NOACK;
}

// The ciphers of a configured list by TLS version, because OpenSSL takes those of TLS 1.3 as a
// separate list.
struct CipherLists {
    std::string before_1_3;
    std::string of_1_3;
};

CipherLists split(std::string_view ciphers) {
    CipherLists lists;
    while (!ciphers.empty()) {
        const std::size_t end = std::min(ciphers.find(':'), ciphers.size());
        const std::string_view cipher = ciphers.substr(0, end);
        std::string& list = cipher.starts_with("TLS_") ? lists.of_1_3 : lists.before_1_3;
        if (!list.empty())
            list += ':';
        list += cipher;
        ciphers.remove_prefix(std::min(end + 1, ciphers.size()));
    }
    return lists;
}

// Checks the ciphers one by one. OpenSSL silently skips unknown ciphers of a list if it knows at
// least one, so that misspelt names would go unnoticed.
Result<void, std::string> check_each(SSL_CTX& scratch, std::string_view ciphers) {
    while (!ciphers.empty()) {
        const std::size_t end = std::min(ciphers.find(':'), ciphers.size());
        const std::string cipher{ciphers.substr(0, end)};
        ciphers.remove_prefix(std::min(end + 1, ciphers.size()));
        const bool is_operation = cipher.find_first_of("!-+@") == 0;
        const int known = cipher.starts_with("TLS_")
                              ? SSL_CTX_set_ciphersuites(&scratch, cipher.c_str())
                              : SSL_CTX_set_cipher_list(&scratch, cipher.c_str());
        if (!is_operation && known != 1)
            return "OpenSSL has no cipher " + cipher;
    }
    return {};
}

Result<void, std::string> use_ciphers(SSL_CTX& context, const std::string& ciphers) {
    const CipherLists lists = split(ciphers);
    if (!lists.before_1_3.empty() &&
        SSL_CTX_set_cipher_list(&context, lists.before_1_3.c_str()) != 1)
        return "no cipher is left of " + lists.before_1_3;
    if (!lists.of_1_3.empty() && SSL_CTX_set_ciphersuites(&context, lists.of_1_3.c_str()) != 1)
        return "no cipher is left of " + lists.of_1_3;
    return {};
}

// Binds session tickets to the context's names and its rules for client certificates, by OpenSSL's
// session id context.
Result<void, std::string> bind_sessions(
    SSL_CTX& context, const ServerSettings& settings, const std::vector<std::string>& names) {
    std::string rules{static_cast<char>(settings.client_certificate)};
    for (const std::string& name : names)
        rules.append(name).append("\n");
    if (!settings.client_ca.empty()) {
        std::ifstream in{settings.client_ca, std::ios::binary};
        rules.append(std::istreambuf_iterator<char>{in}, {});
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(rules.data(), rules.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
        SSL_CTX_set_session_id_context(&context, digest.data(), size) != 1)
        return "OpenSSL failed: " + last_reason();
    return {};
}

Result<void, std::string> ask_clients(SSL_CTX& context, const ServerSettings& settings) {
    using Wanted = ServerSettings::ClientCertificate;
    if (settings.client_certificate == Wanted::none)
        return {};
    const int must =
        settings.client_certificate == Wanted::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | must, &accept_without_revocations);
    return trust_file(context, settings.client_ca, Names::told);
}

} // namespace

Result<void, std::string> check_ciphers(const std::string& ciphers) {
    const ErrorsOf cleared;
    const ContextPtr scratch = make_context(Side::server);
    if (auto known = check_each(*scratch, ciphers); !known)
        return known;
    if (auto used = use_ciphers(*scratch, ciphers); !used)
        return used;
    STACK_OF(SSL_CIPHER)* left = SSL_CTX_get_ciphers(scratch.get());
    for (int i = 0; i < sk_SSL_CIPHER_num(left); ++i) {
        const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(left, i);
        if (SSL_CIPHER_get_cipher_nid(cipher) == NID_undef ||
            SSL_CIPHER_get_auth_nid(cipher) == NID_auth_null)
            return std::string{SSL_CIPHER_get_name(cipher)}.append(" protects nothing");
    }
    return {};
}

Result<void, std::string> apply_rules(
    SSL_CTX& context, const ServerSettings& settings, const std::vector<std::string>& names) {
    // The server's order of ciphers has precedence, except for a client that prefers ChaCha20,
    // because its processor probably lacks AES instructions.
    SSL_CTX_set_options(&context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    if (settings.min_version == Version::tls_1_3)
        SSL_CTX_set_min_proto_version(&context, TLS1_3_VERSION);
    if (SSL_CTX_set1_groups_list(&context, "X25519:P-256:P-384") != 1 ||
        SSL_CTX_set_cipher_list(&context, default_ciphers) != 1 ||
        SSL_CTX_set_ciphersuites(&context, default_suites) != 1)
        return "OpenSSL failed: " + last_reason();
    if (!settings.ciphers.empty()) {
        if (auto checked = check_ciphers(settings.ciphers); !checked)
            return checked;
        if (auto used = use_ciphers(context, settings.ciphers); !used)
            return used;
    }
    // The argument only tells yes from no.
    void* const offers_http2 = settings.http2 ? const_cast<char*>(with_http2.data()) : nullptr;
    SSL_CTX_set_alpn_select_cb(&context, &on_protocols, offers_http2);
    SSL_CTX_set_tlsext_servername_callback(&context, &on_server_name);
    if (auto bound = bind_sessions(context, settings, names); !bound)
        return bound;
    return ask_clients(context, settings);
}

} // namespace stint::tls
