// One request of an HTTP/2 connection and its response (RFC 9113 section 8).
#pragma once

#include "http/http2_request.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "server/client_stream.hpp"
#include "server/http2_bodies.hpp"
#include "server/request_handler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::server {

class Http2Connection;
class Http2Stream;

// The state of a stream that its connection changes, too. Handlers do not use it.
struct Http2StreamState {
    std::int32_t id = 0;
    http::Http2Request fields;
    Http2RequestBody in;
    Http2ResponseBody out;
    RequestHandlerPtr handler; // null before the request is dispatched, and after its end
    Step next = Step::pending; // set by ClientStream::resume()
    enum class Phase : std::uint8_t {
        head,    // the head is not complete
        arrived, // no handler has the request yet
        begun    // a handler has or had it, or it was cancelled before
    };
    Phase phase = Phase::head;
    bool bodiless = false;   // the head has ended the request
    bool closed = false;     // the session has closed the stream: it must not be named there
    bool told_gone = false;  // the handler knows that the client has gone
    bool running = false;    // a coroutine of the connection runs the handler's rest()
    bool progressed = false; // bytes of the response were sent, or bytes of the body have come
    bool listed = false;     // the connection will look at the stream
    Http2Stream* next_listed = nullptr;
    bool reset = false; // a reset was submitted
};

// Lent to a connection for the time of a request.
class Http2Stream final : public ClientStream {
  public:
    // --- for the connection ---
    void attach(Http2Connection& connection, const ConnectionInfo& info) noexcept;
    // Frees the memory that a large request or response has needed.
    void release_large() noexcept;
    Http2StreamState state;
    // Begins the request, whose head has come. Returns an error if it is malformed. stays: the
    // connection does not end after it.
    [[nodiscard]] std::optional<http::HeadError> begin(bool stays);
    // Resumes those who wait for the client, because it has done something or they have to end.
    void wake();
    // Arms the deadline for the client to take more of a response whose handler has ended; disarms
    // it if nothing is left.
    void watch_sending();
    // Takes what the client will not get any more out of bytes_out(). Call it when the handler is
    // about to end.
    void uncount_unsent() noexcept;
    // Waits for bytes of the body, or its end, or cancel().
    [[nodiscard]] net::Task<> wait_for_body();

    // --- ClientStream ---
    [[nodiscard]] std::string_view read_ahead(net::Block& into) override;
    [[nodiscard]] Sent allow_body() override;
    void drop_buffered_body() noexcept override;
    [[nodiscard]] net::Task<BodyPiece> read_body(net::Block& into) override;
    void consumed(std::size_t bytes) noexcept override;
    [[nodiscard]] net::Task<> discard_body() override;
    [[nodiscard]] Sent send_interim(const ForwardedResponse& response) override;
    [[nodiscard]] Sent
    send_response(const ForwardedResponse& response, const ResponsePiece& piece) override;
    [[nodiscard]] Sent send_local(const http::Response& response, std::string_view date) override;
    [[nodiscard]] Sent send_body(const ResponsePiece& piece) override;
    [[nodiscard]] bool has_unsent() const noexcept override;
    [[nodiscard]] net::Task<Sent> flush() override;
    void close_after() noexcept override {}
    void cancel() noexcept override;
    void watch() noexcept override {}
    void watch_unread() noexcept override {}
    void poll_peer_close() override;
    void resume(Step next) override;
    [[nodiscard]] net::Stream* raw_body() noexcept override { return nullptr; }
    [[nodiscard]] net::Task<std::unique_ptr<net::ByteEnd>>
    take_over(std::span<const char>& early) override;
    void watch_for_reset(bool on) noexcept override;

  private:
    [[nodiscard]] Sent
    send_head(std::string_view head, std::string_view payload, bool last, std::string trailer);
    [[nodiscard]] Sent send_switched(const ForwardedResponse& response);
    void on_stalled() noexcept;

    Http2Connection* http2_ = nullptr;
    std::array<net::Event, 2> flushes_; // signalled when bytes of the response were sent
    net::Event read_;                   // signalled when bytes of the body have come
    // For watch_for_reset() as long as there is a handler, and then for watch_sending().
    net::DeadlineOf<Http2Stream, &Http2Stream::on_stalled> stall_{*this};
    bool trailers_ = false;  // the response may have a trailer
    bool cancelled_ = false; // cancel() has ended the wait
};

} // namespace stint::server
