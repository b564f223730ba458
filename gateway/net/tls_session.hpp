// TLS on a non-blocking socket. OpenSSL reads from and writes to the socket itself; a caller that
// has to wait, waits for the socket.
#pragma once

#include "base/error.hpp"
#include "net/types.hpp"
#include "tls/ssl.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace stint::net {

class Gather;
struct Received;
enum class SocketState;

// Not thread-safe. Must not outlive the socket. After an error other than would_block the session
// can no longer be used.
class TlsSession {
  public:
    // early: bytes of TLS that were received before the session began.
    TlsSession(Socket& socket, tls::SslPtr ssl, std::span<const char> early);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    // Continues the handshake. Returns no error once it is complete, and would_block if the caller
    // has to wait for the socket, see wants_to_write(), and call again. After another error the
    // thread's OpenSSL error queue has the reason, and has to be emptied.
    [[nodiscard]] ErrorCode handshake();

    // True if handshake() has failed because the peer began with a request in plain HTTP.
    [[nodiscard]] bool met_plain_http() const noexcept { return met_plain_http_; }

    // True if an earlier session was resumed. Valid after the handshake.
    [[nodiscard]] bool resumed() const noexcept;

    // Reads and writes, as read_now() and write_now() do on a socket. A stream that ends without a
    // close_notify was cut: that is connection_reset, never eof (RFC 8446 section 6.1). Bytes that
    // write() has not taken must be offered to it again, first and unchanged: a part may be
    // encrypted already.
    [[nodiscard]] Received read(std::span<char> into) noexcept;
    [[nodiscard]] ErrorCode write(Gather& gather) noexcept;
    // Returns the state of the stream by its application data: tickets, and parts of records, do
    // not count.
    [[nodiscard]] SocketState probe() noexcept;

    // True if, after would_block from handshake() or read(), the caller has to wait until the
    // socket is writable. After a write() that left bytes, the caller always waits for that.
    [[nodiscard]] bool wants_to_write() const noexcept { return wants_to_write_; }

    // True if bytes, or the end of the stream, are here that no wait on the socket would report.
    // The bytes may be only a part of a record: after a would_block, wait all the same.
    [[nodiscard]] bool has_buffered() const noexcept;

    // Sends close_notify, if the socket takes it at once: the gateway sends no more bytes.
    void send_close_notify() noexcept;
    // Makes send_close_notify() do nothing from now on.
    void never_send_close_notify() noexcept { end_said_ = true; }

    // Returns the memory into which a waiting read puts the socket's next bytes. After that read
    // the caller passes the number of bytes to take_in(), or calls end_intake() at the end of the
    // stream.
    [[nodiscard]] std::span<char> intake();
    void take_in(std::size_t size) noexcept;
    void end_intake() noexcept { ended_ = true; }
    // Marks a pending wait as cancelled: it ends with operation_aborted even if the socket becomes
    // ready at the same time, unless the read has a result. begin_wait() removes the mark.
    void cancel() noexcept { cancelled_ = true; }
    void begin_wait() noexcept { cancelled_ = false; }
    [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }

    // Frees the intake if it is empty. Requires: no read is waiting.
    void release_memory() noexcept;

    [[nodiscard]] SSL& ssl() noexcept { return *ssl_; }
    // The subject of the certificate that the peer has shown and that was verified; empty without
    // one, and until the handshake is complete.
    [[nodiscard]] const std::string& peer_subject() const noexcept { return peer_subject_; }
    // Returns the protocol's name, a literal. Requires a complete handshake.
    [[nodiscard]] std::string_view version() const { return tls::version_of(*ssl_); }
    // True if both sides have agreed on HTTP/2 (ALPN). Requires a complete handshake.
    [[nodiscard]] bool chose_http2() const { return tls::chose_http2(*ssl_); }

  private:
    friend struct SocketBio;
    [[nodiscard]] ErrorCode error_of(int result) noexcept;

    Socket& socket_;
    std::vector<char> intake_; // OpenSSL has yet to read its bytes [intake_begin_, intake_end_)
    std::size_t intake_begin_ = 0;
    std::size_t intake_end_ = 0;
    int failure_ = 0;    // errno of the socket's last failure
    bool ended_ = false; // the socket's stream is at its end
    bool wants_to_write_ = false;
    bool cancelled_ = false;
    bool end_said_ = false; // close_notify was sent, or must not be sent
    bool broken_ = false;
    bool unwritable_ = false; // the socket has failed to send
    bool begun_ = false;      // the peer's first byte has come
    bool met_plain_http_ = false;
    std::string peer_subject_;
    tls::SslPtr ssl_; // destroyed first: refers to the members above
};

} // namespace stint::net
