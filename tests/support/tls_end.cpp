#include "tls_end.hpp"

#include "made_certificates.hpp"
#include "tls/client.hpp"
#include "tls/server.hpp"
#include "tls/ticket_keys.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace stint::test {
namespace {

struct Everything {
    Everything() {
        std::signal(SIGPIPE, SIG_IGN); // OpenSSL's own socket calls raise it
        const tls::Authority authority;
        tls::Wish request;
        request.names = {"DNS:localhost", "IP:127.0.0.1"};
        ca = folder.write("authority.pem", authority.pem());
        tls::ServerSettings settings;
        settings.certificates = {authority.issue(request).in(folder, "server")};
        settings.http2 = over_http2();
        server =
            value(tls::Server::make(settings, std::make_shared<tls::TicketKeys>(SteadyTime{})));
        tls::ClientSettings believing;
        believing.ca = ca;
        client = value(tls::Client::make(believing));
    }

    template <class T>
    static T value(Result<T, std::string> made) {
        if (!made)
            throw std::runtime_error{made.error()};
        return *made;
    }

    tls::Folder folder;
    std::string ca;
    std::shared_ptr<const tls::Server> server;
    std::shared_ptr<const tls::Client> client;
};

const Everything& everything() {
    static const Everything made;
    return made;
}

} // namespace

std::shared_ptr<const tls::Server> tls_server() {
    return everything().server;
}

std::shared_ptr<const tls::Client> tls_client() {
    return everything().client;
}

const std::string& tls_authority() {
    return everything().ca;
}

bool over_tls() noexcept {
    static const bool wanted = std::getenv("STINT_TEST_TLS") != nullptr;
    return wanted;
}

bool over_http2() noexcept {
    static const bool wanted = std::getenv("STINT_TEST_HTTP2") != nullptr;
    return wanted;
}

TlsEnd::TlsEnd(tls::SslPtr ssl, int descriptor) : ssl_{std::move(ssl)} {
    SSL_set_fd(ssl_.get(), descriptor);
}

void TlsEnd::offer_http2() {
    constexpr unsigned char offered[] = {2, 'h', '2'};
    if (SSL_set_alpn_protos(ssl_.get(), offered, sizeof offered) != 0)
        throw std::runtime_error{"OpenSSL takes no protocols"};
}

bool TlsEnd::shake_hands() {
    const int result = SSL_do_handshake(ssl_.get());
    if (result != 1)
        (void)failed(result);
    return result == 1;
}

std::ptrdiff_t TlsEnd::read(char* into, std::size_t size) {
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), into, size, &got);
    return result == 1 ? static_cast<std::ptrdiff_t>(got) : failed(result);
}

std::ptrdiff_t TlsEnd::write(std::string_view bytes) {
    if (bytes.empty())
        return 0;
    std::size_t sent = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
    return result == 1 ? static_cast<std::ptrdiff_t>(sent) : failed(result);
}

std::ptrdiff_t TlsEnd::failed(int result) {
    const int what = SSL_get_error(ssl_.get(), result);
    const int of_socket = errno;
    ERR_clear_error();
    if (what == SSL_ERROR_ZERO_RETURN)
        return 0;
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
        errno = EAGAIN;
    else
        errno = of_socket != 0 && of_socket != EAGAIN ? of_socket : EPROTO;
    return -1;
}

void TlsEnd::send_close_notify() {
    if (SSL_is_init_finished(ssl_.get()) == 1)
        SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

} // namespace stint::test
