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
    std::size_t max_response_head = 0; // bytes; a longer one fails
    bool trailers = false;             // trailers of the response are kept, to be forwarded
};

// A piece of a request's body.
struct RequestPiece {
    std::string_view payload{};
    std::string_view ahead{}; // more payload behind it, of a body whose length is known
    bool last = false;
    // With the last piece: trailer fields as BodyDecoder::trailer() returns them, and the options
    // of the request's Connection fields.
    std::string_view trailer{};
    std::string_view nominated{};
};

// The result of connecting.
struct Connected {
    ErrorCode error{};
    bool in_handshake = false; // how far it got
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
        malformed // the framing; see fault()
    };
    Status status = Status::arrived;
    std::string_view payload{}; // valid until the next read
    bool last = false;
    std::string_view trailer{}; // as in RequestPiece, with the last piece
    std::string_view nominated{};
};

// Told when bytes of a response have come.
class ResponseHandler {
  public:
    // Never within receive_then(). The handler may end the stream within it.
    virtual void on_response(const ErrorCode& error) = 0;

  protected:
    ~ResponseHandler() = default;
};

// Used on one thread, by one exchange, and not after its pool has ended. Destroyed, it drops the
// response, and with HTTP/1.1 its connection; only keep() lets that one carry another request.
// Waits have no timeout of their own: abort() ends them. At most one wait for the response and one
// for the upstream to take more are under way.
class UpstreamStream {
  public:
    UpstreamStream(const UpstreamStream&) = delete;
    UpstreamStream& operator=(const UpstreamStream&) = delete;

    // --- the connection ---
    // True if it has carried a request before: its peer may have closed it meanwhile.
    [[nodiscard]] bool reused() const noexcept { return reused_; }
    // Connects a stream that is not reused. first: bytes before everything else, TLS included; they
    // stay in place until then.
    [[nodiscard]] virtual net::Task<Connected> connect(std::string_view first) = 0;
    // Ends all waits with an error, with a later turn of the event loop. Nothing is sent or
    // received any more.
    virtual void abort() noexcept = 0;
    // Lets the connection carry another request, if all of this one was sent and its response was
    // read to its end.
    virtual void keep(SteadyTime now) noexcept = 0;

    // --- the request ---
    // Sends the head and the first piece, as far as that needs no wait. Keeps what is left, of the
    // pieces too: flush().
    [[nodiscard]] virtual ErrorCode
    send_request(const ForwardedRequest& request, const RequestPiece& piece) = 0;
    // Sends a further piece, once nothing is unsent. Its bytes stay in place until all was taken.
    [[nodiscard]] virtual ErrorCode send_body(const RequestPiece& piece) = 0;
    // True if bytes wait to be sent.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    // Waits until the upstream takes more, and sends once.
    [[nodiscard]] virtual net::Task<ErrorCode> flush() = 0;
    // True if the upstream may have got a byte of the request.
    [[nodiscard]] virtual bool request_begun() const noexcept = 0;
    // True if the upstream's connection has taken all of the request.
    [[nodiscard]] virtual bool request_done() const noexcept = 0;

    // --- the response's heads ---
    // Waits until more of the response has come.
    virtual void receive_then(ResponseHandler& handler) = 0;
    [[nodiscard]] virtual net::Task<ErrorCode> receive() = 0;
    enum class Head : std::uint8_t {
        incomplete, // receive()
        arrived,    // see head(); interim responses come before the final one
        malformed   // fault()
    };
    // Looks for the next head in what has come.
    [[nodiscard]] virtual Head next_head() = 0;
    // Valid until the next suspension.
    [[nodiscard]] virtual const ResponseHead& head() const noexcept = 0;
    // True once a byte of a response has come.
    [[nodiscard]] virtual bool response_begun() const noexcept = 0;
    // Describes a malformed response, for people, as the end of "ENDPOINT sent ".
    [[nodiscard]] virtual std::string fault() const = 0;

    // --- the body of the final response ---
    // True if trailer fields may follow the body and are kept. After the final head.
    [[nodiscard]] virtual bool expects_trailers() const noexcept = 0;
    // Returns what has come of the body with its head. Call once, after the final head.
    [[nodiscard]] virtual BodyRead first_piece() = 0;
    // Waits for the next piece.
    [[nodiscard]] virtual net::Task<BodyRead> read_body() = 0;
    [[nodiscard]] virtual bool response_done() const noexcept = 0;

    // --- raw bytes ---
    // Returns the connection, where the next raw_left() bytes to come are payload and no framing;
    // null where the protocol, or TLS, frames them. Whoever reads them calls pass_raw(), with 0
    // before the first one: then the stream keeps no memory for them.
    [[nodiscard]] virtual net::Stream* raw_body() noexcept = 0;
    [[nodiscard]] virtual std::uint64_t raw_left() const noexcept = 0;
    virtual void pass_raw(std::uint64_t bytes) noexcept = 0;
    // Notes the end of the connection's bytes. False: the body is not complete.
    [[nodiscard]] virtual bool end_raw() noexcept = 0;
    // Hands the connection over, after a 101. early: begins with `size` bytes that came already.
    [[nodiscard]] virtual net::Stream& take_over(net::Block& early, std::size_t& size) = 0;

    // Ends it.
    struct Destroy {
        void operator()(UpstreamStream* stream) const noexcept { stream->destroy(); }
    };

  protected:
    explicit UpstreamStream(bool reused) noexcept : reused_{reused} {}
    ~UpstreamStream() = default;

    const bool reused_;

  private:
    // Destroys this object, and gives its memory back to where it came from.
    virtual void destroy() noexcept = 0;
};
using UpstreamStreamPtr = std::unique_ptr<UpstreamStream, UpstreamStream::Destroy>;

// Where streams to one endpoint come from. One for each worker and endpoint.
class StreamSource {
  public:
    // Returns a stream that can be used at once; null: there is none.
    [[nodiscard]] virtual UpstreamStreamPtr take_idle() = 0;
    // Returns a stream that is yet to connect.
    [[nodiscard]] virtual UpstreamStreamPtr make_new(const net::Executor& executor) = 0;
    // The endpoint's text, for people.
    [[nodiscard]] virtual const std::string& endpoint() const noexcept = 0;

    virtual ~StreamSource() = default;
};

} // namespace stint::upstream
