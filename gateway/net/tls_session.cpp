#include "net/tls_session.hpp"

#include "net/io.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace stint::net {
namespace {

// Bytes in one record, at most (RFC 8446 section 5.1).
constexpr std::size_t record_size = 16 * 1024;

// Bytes that a waiting read takes from the socket: enough for a whole head. OpenSSL reads the rest
// of longer data from the socket itself.
constexpr std::size_t intake_size = 4 * 1024;

// A buffer in which small pieces are joined to one record: each record costs a system call, its own
// head and a tag. Used by its thread only within one call.
thread_local std::array<char, record_size> joined;

std::string_view next_record(const Gather& gather) noexcept {
    const std::span<const iovec> pieces = gather.pieces();
    const auto* first = static_cast<const char*>(pieces.front().iov_base);
    if (pieces.size() == 1 || pieces.front().iov_len >= record_size)
        return {first, std::min(pieces.front().iov_len, record_size)};
    std::size_t size = 0;
    for (const iovec& piece : pieces) {
        const std::size_t part = std::min(piece.iov_len, record_size - size);
        std::memcpy(joined.data() + size, piece.iov_base, part);
        size += part;
    }
    return {joined.data(), size};
}

} // namespace

// OpenSSL's access to the socket (a BIO). OpenSSL's own socket BIO would raise SIGPIPE, and could
// not read from the intake first.
struct SocketBio {
    static TlsSession& session_of(BIO* bio) noexcept {
        return *static_cast<TlsSession*>(BIO_get_data(bio));
    }

    static int read(BIO* bio, char* into, std::size_t room, std::size_t* got) {
        TlsSession& self = session_of(bio);
        BIO_clear_retry_flags(bio);
        const int result = fetch(self, bio, into, room, got);
        return result == 1 && !self.begun_ ? begin(self, *into) : result;
    }

    // Detects plain HTTP by its first byte: OpenSSL would wait for more, and knows a few methods
    // only.
    static int begin(TlsSession& self, char first) {
        self.begun_ = true;
        self.met_plain_http_ = tls::begins_plain_http(first);
        if (!self.met_plain_http_)
            return 1;
        ERR_raise(ERR_LIB_SSL, SSL_R_HTTP_REQUEST);
        return 0;
    }

    static int fetch(TlsSession& self, BIO* bio, char* into, std::size_t room, std::size_t* got) {
        if (self.intake_begin_ < self.intake_end_) {
            *got = std::min(room, self.intake_end_ - self.intake_begin_);
            std::memcpy(into, self.intake_.data() + self.intake_begin_, *got);
            self.intake_begin_ += *got;
            return 1;
        }
        if (self.ended_)
            return 0;
        ssize_t size;
        do
            size = ::recv(self.socket_.native_handle(), into, room, MSG_DONTWAIT);
        while (size < 0 && errno == EINTR);
        if (size > 0) {
            *got = static_cast<std::size_t>(size);
            return 1;
        }
        if (size == 0)
            self.ended_ = true;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            BIO_set_retry_read(bio);
        else
            self.failure_ = errno;
        return 0;
    }

    static int write(BIO* bio, const char* from, std::size_t size, std::size_t* sent) {
        TlsSession& self = session_of(bio);
        BIO_clear_retry_flags(bio);
        ssize_t went;
        do
            went = ::send(self.socket_.native_handle(), from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (went < 0 && errno == EINTR);
        if (went >= 0) {
            *sent = static_cast<std::size_t>(went);
            return 1;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            BIO_set_retry_write(bio);
        else
            self.failure_ = errno;
        return 0;
    }

    static long control(BIO* bio, int command, long, void*) {
        switch (command) {
        case BIO_CTRL_FLUSH:
            return 1; // nothing is held back
        case BIO_CTRL_EOF:
            return session_of(bio).ended_ ? 1 : 0;
        default:
            return 0;
        }
    }

    static const BIO_METHOD* method() {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* method = BIO_meth_new(
                BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "socket");
            if (method == nullptr)
                throw std::bad_alloc{};
            BIO_meth_set_read_ex(method, read);
            BIO_meth_set_write_ex(method, write);
            BIO_meth_set_ctrl(method, control);
            return method;
        }();
        return made;
    }
};

TlsSession::TlsSession(Socket& socket, tls::SslPtr ssl, std::span<const char> early)
    : socket_{socket}, ssl_{std::move(ssl)} {
    if (!ssl_)
        throw std::bad_alloc{};
    intake_.assign(early.begin(), early.end());
    intake_end_ = intake_.size();
    BIO* bio = BIO_new(SocketBio::method());
    if (bio == nullptr)
        throw std::bad_alloc{};
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio); // ssl_ now owns the BIO
}

TlsSession::~TlsSession() = default;

ErrorCode TlsSession::error_of(int result) noexcept {
    const int what = SSL_get_error(ssl_.get(), result);
    wants_to_write_ = what == SSL_ERROR_WANT_WRITE;
    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
        return asio::error::would_block;
    if (what == SSL_ERROR_ZERO_RETURN)
        return asio::error::eof;
    broken_ = true;
    if (ended_) // the cut is reported, even if sending an alert has failed after it
        return asio::error::connection_reset;
    return {failure_ != 0 ? failure_ : EPROTO, boost::system::system_category()};
}

ErrorCode TlsSession::handshake() {
    const int result = SSL_do_handshake(ssl_.get());
    if (result != 1)
        return error_of(result);
    peer_subject_ = tls::peer_subject(*ssl_);
    return {};
}

bool TlsSession::resumed() const noexcept {
    return SSL_session_reused(ssl_.get()) == 1;
}

Received TlsSession::read(std::span<char> into) noexcept {
    if (broken_)
        return {asio::error::connection_reset};
    ERR_clear_error(); // other sessions of this thread may have left errors
    Received got;
    do {
        std::size_t size = 0;
        const int result =
            SSL_read_ex(ssl_.get(), into.data() + got.size, into.size() - got.size, &size);
        if (result != 1) {
            const ErrorCode error = error_of(result);
            ERR_clear_error();
            return got.size > 0 ? got : Received{error};
        }
        got.size += size;
    } while (got.size < into.size() && has_buffered());
    return got;
}

ErrorCode TlsSession::write(Gather& gather) noexcept {
    if (broken_ || unwritable_)
        return asio::error::connection_reset;
    ERR_clear_error();
    while (!gather.empty()) {
        const std::string_view record = next_record(gather);
        std::size_t sent = 0;
        const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &sent);
        if (result != 1) {
            const bool reader_waits_for_room = wants_to_write_;
            const ErrorCode error = error_of(result);
            wants_to_write_ = reader_waits_for_room;
            if (failure_ != 0) { // the socket cannot send, but received bytes can be read
                unwritable_ = true;
                broken_ = false;
            }
            ERR_clear_error();
            return error == asio::error::would_block ? ErrorCode{} : error;
        }
        gather.consume(sent);
    }
    return {};
}

// Also consumes what a peer sends unasked, such as tickets: that is no application data.
SocketState TlsSession::probe() noexcept {
    if (broken_)
        return SocketState::closed;
    ERR_clear_error();
    char byte;
    std::size_t size = 0;
    const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &size);
    if (result == 1)
        return SocketState::bytes_waiting;
    const ErrorCode error = error_of(result);
    ERR_clear_error();
    return error == asio::error::would_block ? SocketState::silent : SocketState::closed;
}

bool TlsSession::has_buffered() const noexcept {
    const bool ended = broken_ || (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    return intake_begin_ < intake_end_ || SSL_has_pending(ssl_.get()) == 1 || ended;
}

void TlsSession::send_close_notify() noexcept {
    if (end_said_ || broken_ || unwritable_ || SSL_is_init_finished(ssl_.get()) == 0)
        return;
    end_said_ = true;
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

std::span<char> TlsSession::intake() {
    if (intake_begin_ == intake_end_)
        intake_begin_ = intake_end_ = 0;
    if (intake_end_ == 0)
        intake_.resize(intake_size);
    return std::span{intake_}.subspan(intake_end_);
}

void TlsSession::take_in(std::size_t size) noexcept {
    intake_end_ += size;
}

void TlsSession::release_memory() noexcept {
    if (intake_begin_ == intake_end_)
        intake_ = {};
}

} // namespace stint::net
