#include "sealed_end.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <utility>

namespace stint::test {

SealedEnd::SealedEnd(tls::SslPtr ssl) : ssl_{std::move(ssl)} {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
}

std::string SealedEnd::take(std::string_view bytes) {
    if (!bytes.empty())
        BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    if (!complete())
        (void)SSL_do_handshake(ssl_.get());
    char some[4096];
    std::size_t size = 0;
    while (complete() && SSL_read_ex(ssl_.get(), some, sizeof some, &size) == 1)
        text.append(some, size);
    ERR_clear_error();
    return said();
}

std::string SealedEnd::seal(std::string_view bytes) {
    std::size_t sent = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) != 1 || sent < bytes.size())
        throw std::runtime_error{"a test's record could not be made"};
    return said();
}

std::string SealedEnd::seal_end() {
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
    return said();
}

bool SealedEnd::complete() const {
    return SSL_is_init_finished(ssl_.get()) == 1;
}

bool SealedEnd::ended() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

std::string SealedEnd::said() {
    BIO* out = SSL_get_wbio(ssl_.get());
    std::string bytes(BIO_ctrl_pending(out), '\0');
    if (!bytes.empty())
        BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
}

} // namespace stint::test
