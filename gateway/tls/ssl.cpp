#include "tls/ssl.hpp"

#include "tls/openssl.hpp"

namespace stint::tls {

void SslDeleter::operator()(SSL* ssl) const noexcept {
    // Marks the connection as properly closed. Otherwise OpenSSL would discard the session of a
    // connection without close_notify, which TLS does not require since 1.1 (RFC 4346 section
    // 7.2.1), and which pooled connections do not send. Sessions with a fatal alert are discarded
    // when the alert arrives.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl);
}

std::string peer_subject(SSL& ssl) {
    const ErrorsOf cleared;
    const X509* certificate = SSL_get0_peer_certificate(&ssl);
    if (certificate == nullptr || SSL_get_verify_result(&ssl) != X509_V_OK)
        return {};
    const BioPtr out{BIO_new(BIO_s_mem())};
    if (!out || X509_NAME_print_ex(
                    out.get(), X509_get_subject_name(certificate), 0,
                    XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0)
        return {};
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string_view version_of(SSL& ssl) {
    return SSL_get_version(&ssl);
}

bool chose_http2(SSL& ssl) {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(&ssl, &name, &size);
    return size == 2 && name[0] == 'h' && name[1] == '2';
}

} // namespace stint::tls
