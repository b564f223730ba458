// One request of a client and its response, whatever protocol carries them.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"
#include "http/field_edits.hpp"
#include "http/ratelimit_fields.hpp"
#include "http/response.hpp"
#include "net/buffer_pool.hpp"
#include "net/byte_end.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "routing/client_address.hpp"
#include "server/request_handler.hpp"
#include "server/wait_slots.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stint::server {

// Facts about a stream's connection. All pointers and views are valid as long as the connection.
struct ConnectionInfo {
    const routing::ClientAddress* peer = nullptr; // from a PROXY header, else the socket's peer
    const net::Socket* socket = nullptr;
    std::string_view tls_subject{}; // subject of the client's certificate; empty: none
    std::string_view tls_version{}; // such as TLSv1.3; empty: no TLS
    Session* session = nullptr;     // the service's state of the connection; may be null
    // Slots for requests that wait in a queue. Null: each may, as over HTTP/1.
    WaitSlots* waits = nullptr;
    std::uint16_t https_port = 0; // https port to redirect all requests to; 0: none
    bool secure = false;
    // When this request began to wait, in the process that this one has replaced; the epoch: it did
    // not.
    SteadyTime waiting_since{};
};

// An upstream's response head, and what the gateway adds to it.
struct ForwardedResponse {
    const ResponseHead& head;
    std::string_view request_id{}; // X-Request-Id, unless the upstream sent one
    std::string_view date{};       // time of arrival as IMF-fixdate; used if the head has no Date
    const http::Shaping* shaping = nullptr; // the configuration's field edits
    http::PolicyFields policies{};          // the gateway's own rate-limit fields
    bool trailers = false;                  // trailers may follow the body
    std::string_view protocols{};           // the protocols that a 101 switches to
};

// A piece of a response's body.
struct ResponsePiece {
    std::string_view payload;
    bool last = false;
    // With the last piece: the upstream's trailer fields as BodyDecoder::trailer() returns them,
    // and the options of its Connection fields. Used only if ForwardedResponse::trailers was set.
    std::string_view trailer{};
    std::string_view nominated{};
};

// A piece of a request's body.
struct BodyPiece {
    enum class Status : std::uint8_t { arrived, gone, malformed };
    Status status = Status::arrived;
    std::string_view payload{}; // view of the block given to the read; may be empty
    std::string_view detail{};  // a string literal that describes a malformed body
    // With the last piece: trailer fields as BodyDecoder::trailer() returns them, and the options
    // of the request's Connection fields. HTTP/1.1 drops a request's trailer.
    std::string_view trailer{};
    std::string_view nominated{};
};

// The result of a send.
enum class Sent : std::uint8_t {
    all,
    part, // the stream keeps the rest, for flush()
    gone  // the client has gone
};

// Belongs to its connection, is used on that connection's thread, and outlives its RequestHandler.
// Views of the request are valid until the request ends. Waits have no timeout of their own:
// cancel() ends them. At most one read_body() is pending at a time.
class ClientStream {
  public:
    ClientStream(const ClientStream&) = delete;
    ClientStream& operator=(const ClientStream&) = delete;

    [[nodiscard]] const ConnectionInfo& connection() const noexcept { return *connection_; }

    // --- the request ---
    [[nodiscard]] const RequestHead& head() const noexcept { return head_; }
    // Payload that came with the head; empty once drop_buffered_body() was called.
    [[nodiscard]] std::string_view buffered_body() const noexcept { return buffered_body_; }
    // True if the whole body has been read.
    [[nodiscard]] bool body_done() const noexcept { return body_done_; }
    // Number of bytes of the body's payload that were read.
    [[nodiscard]] std::uint64_t bytes_in() const noexcept { return bytes_in_; }
    // Reads the bytes of the body that have arrived since the head was read, without waiting.
    // Borrows a block for `into`, and returns a view of it. The view is empty if nothing has
    // arrived, or if the body's length is unknown.
    [[nodiscard]] virtual std::string_view read_ahead(net::Block& into) = 0;
    // Sends 100 (Continue) to a client that waits for it before it sends its body. Does nothing for
    // other clients.
    [[nodiscard]] virtual Sent allow_body() = 0;
    // Frees the memory of the body's bytes that came with the head, once they are not needed again.
    virtual void drop_buffered_body() noexcept = 0;
    // Reads the next piece of the body into `into`.
    [[nodiscard]] virtual net::Task<BodyPiece> read_body(net::Block& into) = 0;
    // Notes that the upstream, or a handler that keeps them, has taken so many bytes of the body,
    // those of buffered_body() included. A protocol with flow control then lets the client send as
    // many more.
    virtual void consumed(std::size_t) noexcept {}
    // Reads and drops the rest of the body, if it is small and comes soon, so that the connection
    // can carry another request.
    [[nodiscard]] virtual net::Task<> discard_body() = 0;

    // --- the response ---
    // Sends an interim response. Leaves it out if the client's protocol has no interim responses,
    // or if the client has not taken earlier bytes yet.
    [[nodiscard]] virtual Sent send_interim(const ForwardedResponse& response) = 0;
    // Sends the final head, with a first piece of the body.
    [[nodiscard]] virtual Sent
    send_response(const ForwardedResponse& response, const ResponsePiece& piece) = 0;
    // Sends a response of the gateway's own. date: as in ForwardedResponse.
    [[nodiscard]] virtual Sent
    send_local(const http::Response& response, std::string_view date) = 0;
    // Sends a further piece of the body. Its bytes must stay in place until all of it was sent.
    [[nodiscard]] virtual Sent send_body(const ResponsePiece& piece) = 0;
    // True if bytes wait to be sent.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    // Waits until the client takes more, and sends. Sent::part: bytes are left, or the wait was
    // cancelled. Two callers may wait at once: the first one that resumes sends for both.
    [[nodiscard]] virtual net::Task<Sent> flush() = 0;
    // True once the final head was given to the client.
    [[nodiscard]] bool head_sent() const noexcept { return head_sent_; }
    // Number of bytes of the response, with its heads and framing. Bytes that wait to be sent are
    // counted, too; with HTTP/2 not those that the client's end, or a reset, keeps from it.
    [[nodiscard]] std::uint64_t bytes_out() const noexcept { return bytes_out_; }
    // Ends the connection after this response.
    virtual void close_after() noexcept = 0;
    // True if the connection may carry another request after the response that was sent.
    [[nodiscard]] bool keeps_alive() const noexcept { return keep_alive_; }

    // --- waits ---
    // Ends the waits for the client: read_body(), flush().
    virtual void cancel() noexcept = 0;
    // Watches for the client's close while the request waits for something else. Calls
    // RequestHandler::on_client_gone() then.
    virtual void watch() noexcept = 0;
    // Does the same as watch(), but starts no read from the client's socket.
    virtual void watch_unread() noexcept = 0;
    // Checks whether the client has gone, and calls RequestHandler::on_client_gone() if it has.
    // Call it when a wait of the request has ended, before the wait's result is used.
    virtual void poll_peer_close() = 0;
    // Goes on with a request whose handler has returned Step::pending. This call may destroy the
    // handler, which therefore must not do anything afterwards.
    virtual void resume(Step next) = 0;

    // --- raw bytes ---
    // Returns the connection, to send bytes of the body without framing; null if the protocol or
    // TLS frames them. The caller reports the bytes it has sent by count_raw().
    [[nodiscard]] virtual net::Stream* raw_body() noexcept = 0;
    void count_raw(std::uint64_t in, std::uint64_t out) noexcept {
        bytes_in_ += in;
        bytes_out_ += out;
    }
    // Hands the client's bytes over, after a 101. early: set to the bytes that came already, which
    // stay in place. The result must not outlive the stream; it is null if the client has gone.
    [[nodiscard]] virtual net::Task<std::unique_ptr<net::ByteEnd>>
    take_over(std::span<const char>& early) = 0;
    // Turns the call of RequestHandler::poll_tunnel() with each tick on or off.
    virtual void watch_for_reset(bool on) noexcept = 0;

  protected:
    ClientStream() = default;
    ~ClientStream() = default;

    const ConnectionInfo* connection_ = nullptr;
    RequestHead head_;
    std::string_view buffered_body_;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
    bool body_done_ = true;
    bool head_sent_ = false;
    bool keep_alive_ = false;
};

} // namespace stint::server
