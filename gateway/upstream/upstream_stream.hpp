// One request to an upstream and its response, whatever protocol carries them.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "http/rewrite.hpp"
#include "net/buffer_pool.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stint::upstream {

// A client's request head, and what the gateway changes in it. Views live until the request ends.
struct ForwardedRequest {
    const RequestHead& head;
    const http::Forwarding& forwarding;
    std::size_t max_response_head = 0; // bytes; a longer head is malformed
    bool trailers = false;             // trailers of the response are kept, to be forwarded
};

// A piece of a request's body.
struct RequestPiece {
    std::string_view payload{};
    std::string_view ahead{}; // more payload, after `payload`; only if the body's length is known
    bool last = false;
    // With the last piece: trailer fields as BodyDecoder::trailer() returns them, and the options
    // of the request's Connection fields.
    std::string_view trailer{};
    std::string_view nominated{};
};

// The result of connecting.
struct Connected {
    ErrorCode error{};
    bool in_handshake = false; // connecting has reached the TLS handshake
    std::string reason{};      // why the handshake failed, for people
    bool spoke_first = false;  // bytes came before there was a request (RFC 9112 section 9.2)

    // Returns the reason of a failure, for people.
    [[nodiscard]] std::string why() const { return reason.empty() ? error.message() : reason; }
};

// A piece of a response's body.
struct BodyRead {
    enum class Status : std::uint8_t {
        arrived,
        broken,   // cut short, or the connection broke
        malformed // the framing is malformed; see fault()
    };
    Status status = Status::arrived;
    std::string_view payload{}; // valid until the next read
    bool last = false;
    std::string_view trailer{}; // as in RequestPiece, with the last piece
    std::string_view nominated{};
};

// Is notified when bytes of a response have come.
class ResponseHandler {
  public:
    // Called once for each receive_then(), never within it. error: why no bytes came, if set. This
    // call may destroy the stream.
    virtual void on_response(const ErrorCode& error) = 0;

  protected:
    ~ResponseHandler() = default;
};

// Used on one thread, by one exchange. Must not outlive its pool. The destructor drops the response
// and, with HTTP/1.1, closes the connection; only keep() saves the connection for another request.
// Waits have no timeout of their own: abort() ends them. At most one wait for the response and one
// flush() are pending at a time.
class UpstreamStream {
  public:
    UpstreamStream(const UpstreamStream&) = delete;
    UpstreamStream& operator=(const UpstreamStream&) = delete;

    // --- the connection ---
    // True if the connection has carried a request before: its peer may have closed it meanwhile.
    [[nodiscard]] bool reused() const noexcept { return reused_; }
    // Connects a stream that is not reused. first: bytes sent before all others, TLS included; they
    // must stay in place until the connect has ended.
    [[nodiscard]] virtual net::Task<Connected> connect(std::string_view first) = 0;
    // Ends all waits with an error, in a later turn of the event loop. After it, nothing is sent or
    // received.
    virtual void abort() noexcept = 0;
    // Gives the connection back for another request if all of this one was sent and its response
    // was read to its end; otherwise closes it.
    virtual void keep(SteadyTime now) noexcept = 0;

    // --- the request ---
    // Sends the head and the first piece without waiting. Keeps a copy of the unsent rest, for
    // flush().
    [[nodiscard]] virtual ErrorCode
    send_request(const ForwardedRequest& request, const RequestPiece& piece) = 0;
    // Sends a further piece without waiting. Requires: !has_unsent(). The piece must stay in place
    // until all of it is sent.
    [[nodiscard]] virtual ErrorCode send_body(const RequestPiece& piece) = 0;
    // True if bytes wait to be sent.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    // Waits until the connection takes more bytes, and sends once.
    [[nodiscard]] virtual net::Task<ErrorCode> flush() = 0;
    // True if the upstream may have got a byte of the request.
    [[nodiscard]] virtual bool request_begun() const noexcept = 0;
    // True if the upstream's connection has taken all of the request.
    [[nodiscard]] virtual bool request_done() const noexcept = 0;

    // --- the response's heads ---
    // receive_then() and receive() wait until more of the response has come. receive_then() calls
    // the handler then; receive() resumes the caller.
    virtual void receive_then(ResponseHandler& handler) = 0;
    [[nodiscard]] virtual net::Task<ErrorCode> receive() = 0;
    enum class Head : std::uint8_t {
        incomplete, // the head needs more bytes: receive()
        arrived,    // see head(); interim responses come before the final one
        malformed   // see fault()
    };
    // Looks for the next head in what has come.
    [[nodiscard]] virtual Head next_head() = 0;
    // Returns the head that next_head() has found, valid until the next co_await.
    [[nodiscard]] virtual const ResponseHead& head() const noexcept = 0;
    // True once a byte of a response has come.
    [[nodiscard]] virtual bool response_begun() const noexcept = 0;
    // Describes a malformed response, for people, as the end of "ENDPOINT sent ".
    [[nodiscard]] virtual std::string fault() const = 0;

    // --- the body of the final response ---
    // True if trailer fields may follow the body and are kept. After the final head.
    [[nodiscard]] virtual bool expects_trailers() const noexcept = 0;
    // Returns the bytes of the body that came with its head. Call once, after the final head.
    [[nodiscard]] virtual BodyRead first_piece() = 0;
    // Waits for the next piece.
    [[nodiscard]] virtual net::Task<BodyRead> read_body() = 0;
    [[nodiscard]] virtual bool response_done() const noexcept = 0;

    // --- raw bytes ---
    // Returns the connection if its next raw_left() bytes are payload without framing; null if the
    // protocol or TLS frames the payload. A caller that reads those bytes from the connection first
    // calls pass_raw(0), which frees the stream's buffer, and after each read calls pass_raw() with
    // the bytes read.
    [[nodiscard]] virtual net::Stream* raw_body() noexcept = 0;
    [[nodiscard]] virtual std::uint64_t raw_left() const noexcept = 0;
    virtual void pass_raw(std::uint64_t bytes) noexcept = 0;
    // Notes that the connection has reached its end. Returns false if the body is not complete.
    [[nodiscard]] virtual bool end_raw() noexcept = 0;
    // Hands the connection over, after a 101. Sets `early` to a block that begins with the `size`
    // bytes that came after the 101's head.
    [[nodiscard]] virtual net::Stream& take_over(net::Block& early, std::size_t& size) = 0;

    // Destroys a stream.
    struct Destroy {
        void operator()(UpstreamStream* stream) const noexcept { stream->destroy(); }
    };

  protected:
    explicit UpstreamStream(bool reused) noexcept : reused_{reused} {}
    ~UpstreamStream() = default;

    const bool reused_;

  private:
    // Destroys this object, and gives its memory back to its pool.
    virtual void destroy() noexcept = 0;
};
using UpstreamStreamPtr = std::unique_ptr<UpstreamStream, UpstreamStream::Destroy>;

// Source of streams to one endpoint. One for each worker and endpoint.
class StreamSource {
  public:
    // Returns a stream on an idle connection; null if there is none.
    [[nodiscard]] virtual UpstreamStreamPtr take_idle() = 0;
    // Returns a stream that is yet to connect.
    [[nodiscard]] virtual UpstreamStreamPtr make_new(const net::Executor& executor) = 0;
    // The endpoint's text, for people.
    [[nodiscard]] virtual const std::string& endpoint() const noexcept = 0;

    virtual ~StreamSource() = default;
};

} // namespace stint::upstream
