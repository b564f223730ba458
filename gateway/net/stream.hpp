// One end of a connection: a socket, with or without TLS. The functions of io.hpp exist for it,
// too; each of them branches once, on TLS.
#pragma once

#include "net/deferred_read.hpp"
#include "net/io.hpp"
#include "net/tls_session.hpp"

#include <boost/asio/post.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace stint::net {

// Not thread-safe. The destructor closes without a close_notify; close() sends one.
class Stream {
  public:
    explicit Stream(const Executor& executor) : socket_{executor} {}
    explicit Stream(Socket socket) : socket_{std::move(socket)} {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] Socket& socket() noexcept { return socket_; }
    [[nodiscard]] TlsSession* tls() noexcept { return tls_.get(); }

    // Begins TLS: all bytes from now on belong to TLS, and so do those in `early`, which have come
    // already. handshake() must succeed before anything else is done.
    void begin_tls(tls::SslPtr ssl, std::span<const char> early = {}) {
        tls_ = std::make_unique<TlsSession>(socket_, std::move(ssl), early);
    }
    // Destroys the TLS session, if there is one, for a peer that does not speak TLS or before a new
    // connection.
    void forget_tls() noexcept { tls_.reset(); }

  private:
    Socket socket_;
    std::unique_ptr<TlsSession> tls_; // refers to socket_
};

// Completes the TLS handshake, without a timeout of its own. After an error the thread's OpenSSL
// error queue has the reason, until the next co_await. The caller has to empty that queue.
[[nodiscard]] Task<ErrorCode> handshake(Stream& stream);

inline ErrorCode write_now(Stream& stream, Gather& gather) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        return tls->write(gather);
    return write_now(stream.socket(), gather);
}

inline Received read_now(Stream& stream, std::span<char> into) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        return tls->read(into);
    return read_now(stream.socket(), into);
}

// True if read_now() has bytes, or the end of the stream, that wait_readable() would not report.
inline bool has_buffered(Stream& stream) noexcept {
    return stream.tls() != nullptr && stream.tls()->has_buffered();
}

inline auto wait_readable(Stream& stream) {
    return wait_readable(stream.socket());
}

inline auto wait_writable(Stream& stream) {
    return wait_writable(stream.socket());
}

// A TLS read from its first wait to its completion; waits again whenever the socket brings only
// parts of records. Done: void(const ErrorCode&, std::size_t).
template <class Done>
class TlsRead {
  public:
    TlsRead(Stream& stream, std::span<char> into, HandlerMemory& memory, Done done)
        : stream_{&stream}, into_{into}, memory_{&memory}, done_{std::move(done)} {}

    void start() && {
        TlsSession& tls = *stream_->tls();
        tls.begin_wait();
        if (tls.has_buffered()) {
            const Received got = tls.read(into_);
            if (got.error != asio::error::would_block)
                return std::move(*this).post(got);
        }
        std::move(*this).wait();
    }

    void operator()(const ErrorCode& error, std::size_t size) {
        TlsSession& tls = *stream_->tls();
        if (error == asio::error::eof)
            tls.end_intake();
        else if (error)
            return done_(error, 0);
        tls.take_in(size);
        const Received got = tls.read(into_);
        if (got.error != asio::error::would_block)
            return done_(got.error, got.size);
        if (tls.cancelled())
            return done_(asio::error::operation_aborted, 0);
        std::move(*this).wait();
    }

    void operator()(const ErrorCode& error) { operator()(error, 0); }

  private:
    void wait() && {
        Socket& socket = stream_->socket();
        HandlerMemory& memory = *memory_;
        if (stream_->tls()->wants_to_write()) {
            socket.async_wait(Socket::wait_write, in_place(memory, std::move(*this)));
            return;
        }
        const std::span<char> intake = stream_->tls()->intake();
        socket.async_read_some(
            asio::buffer(intake.data(), intake.size()), in_place(memory, std::move(*this)));
    }

    // Posts the result: done() never runs before the caller of start() has returned.
    void post(const Received& got) && {
        asio::post(
            stream_->socket().get_executor(),
            in_place(
                *memory_, [done = std::move(done_), got]() mutable { done(got.error, got.size); }));
    }

    Stream* stream_;
    std::span<char> into_;
    HandlerMemory* memory_;
    Done done_;
};

// Calls done(error, size) once bytes have come, or the stream has ended.
template <class Done>
void read_some_then(Stream& stream, std::span<char> into, HandlerMemory& memory, Done done) {
    if (stream.tls() != nullptr) [[unlikely]]
        return TlsRead<Done>{stream, into, memory, std::move(done)}.start();
    stream.socket().async_read_some(
        asio::buffer(into.data(), into.size()), in_place(memory, std::move(done)));
}

// State of a stream's input as the caller of a read knows it.
enum class Input : std::uint8_t {
    unknown,
    none_yet, // no bytes and no end of the stream so far: see read_deferred_then()
};

inline auto read_some(
    Stream& stream, std::span<char> into, HandlerMemory& memory, Input known = Input::unknown) {
    const auto start = [&stream, into, &memory, known](auto&& resume) {
        auto done = [resume = std::move(resume)](const ErrorCode& error, std::size_t size) mutable {
            std::move(resume)(std::tuple{error, size});
        };
        if (known == Input::none_yet && stream.tls() == nullptr) [[likely]]
            read_deferred_then(stream.socket(), into, memory, std::move(done));
        else
            read_some_then(stream, into, memory, std::move(done));
    };
    return asio::async_initiate<const asio::deferred_t, void(std::tuple<ErrorCode, std::size_t>)>(
        start, asio::deferred);
}

inline SocketState probe(Stream& stream) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        return tls->probe();
    return probe(stream.socket());
}

inline bool peer_closed(Stream& stream, bool or_closed) noexcept {
    return peer_closed(stream.socket(), or_closed);
}

inline bool was_reset(Stream& stream) noexcept {
    return was_reset(stream.socket());
}

inline void acknowledge_at_once(Stream& stream) noexcept {
    acknowledge_at_once(stream.socket());
}

// Cancels every wait on the stream; it stays open.
inline void cancel(Stream& stream) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        tls->cancel();
    ErrorCode ignored;
    stream.socket().cancel(ignored);
}

// Ends sending. Bytes that the peer sends are still received.
inline void shutdown_send(Stream& stream) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        tls->send_close_notify();
    ErrorCode ignored;
    stream.socket().shutdown(Socket::shutdown_send, ignored);
}

inline void close(Stream& stream) noexcept {
    if (TlsSession* tls = stream.tls(); tls != nullptr && stream.socket().is_open()) [[unlikely]]
        tls->send_close_notify();
    close(stream.socket());
}

// Makes close() reset the connection, so that the peer does not take a part of a message for the
// whole.
inline void reset_on_close(Stream& stream) noexcept {
    if (TlsSession* tls = stream.tls()) [[unlikely]]
        tls->never_send_close_notify();
    ErrorCode ignored;
    stream.socket().set_option(asio::socket_base::linger{true, 0}, ignored);
}

// Sends all of `gather`, and waits where needed. After an error, the bytes that were not taken are
// left in `gather`.
[[nodiscard]] Task<ErrorCode> send_all(Stream& stream, Gather& gather);

} // namespace stint::net
