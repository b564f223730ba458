#include "tls/context.hpp"

#include "tls/openssl.hpp"

#include <cerrno>
#include <cstdio>
#include <openssl/err.h>
#include <stdexcept>
#include <system_error>

namespace stint::tls {

namespace {

constexpr int lowest_level = 2;

} // namespace

void ContextDeleter::operator()(SSL_CTX* context) const noexcept {
    SSL_CTX_free(context);
}

ErrorsOf::ErrorsOf() noexcept {
    ERR_clear_error();
}

ErrorsOf::~ErrorsOf() {
    ERR_clear_error();
}

std::string last_reason() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason != nullptr ? reason : "unknown";
}

BioPtr open_file(const std::string& file, std::string& fault) {
    errno = 0;
    std::FILE* in = std::fopen(file.c_str(), "rb");
    BioPtr bio;
    if (in != nullptr)
        bio.reset(BIO_new_fp(in, BIO_CLOSE));
    if (!bio)
        fault = std::string{file}
                    .append(" cannot be read: ")
                    .append(std::generic_category().message(errno));
    if (in != nullptr && !bio)
        std::fclose(in);
    return bio;
}

ContextPtr make_context(Side side) {
    ContextPtr context{
        SSL_CTX_new(side == Side::server ? TLS_server_method() : TLS_client_method())};
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
        throw std::runtime_error{"OpenSSL has no TLS 1.2: " + last_reason()};
    SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    // Partial writes may be retried from another buffer, idle connections hold no buffers, and
    // certificate chains are sent as in their files: completing a chain would cost a verification
    // per handshake.
    SSL_CTX_set_mode(
        context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                           SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context.get(), 1);
    // Servers reject keys with less than 112 bits of security, whatever the system's openssl.cnf
    // allows.
    if (side == Side::server && SSL_CTX_get_security_level(context.get()) < lowest_level)
        SSL_CTX_set_security_level(context.get(), lowest_level);
    return context;
}

} // namespace stint::tls
