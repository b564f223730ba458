// One downstream connection that speaks HTTP/2: its streams, their handlers, and its end. Start
// reading at serve() and turn().
#pragma once

#include "net/event.hpp"
#include "net/handler_memory.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "server/glitches.hpp"
#include "server/http2_drain.hpp"
#include "server/http2_half_close.hpp"
#include "server/http2_output.hpp"
#include "server/http2_session.hpp"
#include "server/http2_stream.hpp"
#include "server/http2_times.hpp"
#include "server/settings.hpp"
#include "server/stream_pool.hpp"
#include "server/wait_slots.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stint::server {

class Http1Connection;
struct Loop;

// Lives on the socket and the input of an Http1Connection, which has found out that its client
// speaks HTTP/2. What the session and the handlers want to have done is noted, and done in turn():
// after each read, when the socket takes more, and otherwise soon after it was noted. So a response
// of one stream is sent together with those of others, and no object ends while its own code runs.
class Http2Connection final : private Http2Events {
  public:
    // host: must outlive this object.
    explicit Http2Connection(Http1Connection& host);
    Http2Connection(const Http2Connection&) = delete;
    Http2Connection& operator=(const Http2Connection&) = delete;
    ~Http2Connection() = default;

    // Serves the connection until its end. Returns true if the client may still be reading, so that
    // the socket must not be closed at once.
    [[nodiscard]] net::Task<bool> serve();
    // Lets the streams finish, and refuses new ones. Called with every tick while Loop::draining.
    // If there is a Totals::successor, requests that wait for a decision are refused, too.
    void drain() noexcept;
    // Ends all streams now. The socket is closed already, or reset. May destroy the connection.
    void abort() noexcept;

    // --- for its streams and times ---
    // Has what was noted done in a turn soon.
    void schedule() noexcept;
    [[nodiscard]] Http1Connection& host() noexcept { return host_; }
    [[nodiscard]] WaitSlots& waits() noexcept { return waits_; }
    // Scratch: the fields that the next submission sends.
    [[nodiscard]] std::vector<http::Http2Field>& fields() noexcept { return fields_; }
    [[nodiscard]] bool submit_interim(Http2Stream& stream);
    [[nodiscard]] bool submit_response(Http2Stream& stream, bool has_body);
    // There is more of the stream's response.
    void resume_sending(Http2Stream& stream) noexcept;
    // Sends what can be sent, within this call.
    void send_now() noexcept;
    void consume(Http2Stream& stream, std::size_t bytes) noexcept;
    void reset(Http2Stream& stream, Http2Error error) noexcept;
    // Has the stream looked at in the next turn.
    void look_at(Http2Stream& stream) noexcept;

  private:
    using Streams = StreamPool<Http2Stream>;

    // Http2Events
    Http2Stream* on_request_begun(std::int32_t id) override;
    bool on_field(
        Http2Stream& stream, std::string_view name, std::string_view value, bool valid) override;
    void on_head(Http2Stream& stream, bool ends) override;
    void on_data(Http2Stream& stream, std::span<const char> bytes) override;
    void on_request_end(Http2Stream& stream) override;
    void on_stream_closed(Http2Stream& stream, bool cut) override;
    void on_glitch(observe::Http2Glitch kind) override;
    void on_acknowledged(Acknowledged what) override;
    std::size_t bytes_to_send(
        Http2Stream& stream, std::size_t most, bool& last, std::string_view& trailer) override;
    Took send_data(Http2Stream& stream, std::string_view frame_head, std::size_t size) override;
    void on_response_end(Http2Stream& stream) override;

    void turn() noexcept;
    void after_turn();
    void on_flood();
    void end_abuse() noexcept;
    static void tell_gone(Http2Stream& stream);
    void look(Http2Stream& stream);
    void dispatch(Http2Stream& stream);
    void end_request(Http2Stream& stream);
    static net::Task<> run(Http2Connection& self, Http2Stream& stream, bool failed);
    [[nodiscard]] bool reap(Http2Stream& stream) noexcept;
    void tell_session(Http2Stream& stream) noexcept;
    void await_writable();
    void end_streams() noexcept;
    [[nodiscard]] bool over() const noexcept {
        return ended_ || (session_.done() && !output_.blocked());
    }

    Http1Connection& host_;
    Loop& loop_;
    const Http2Bounds& bounds_;
    Http2Session session_;
    Http2Output output_;
    Http2Drain drain_;
    Glitches glitches_;
    WaitSlots waits_;
    Http2Times times_;
    Http2HalfClose half_close_;
    Streams::List streams_;
    Http2Stream* noted_ = nullptr; // first of the streams to look at
    Http2Stream** noted_end_ = &noted_;
    std::vector<http::Http2Field> fields_;
    net::HandlerMemory turn_memory_;
    net::HandlerMemory write_memory_;
    net::Event quiet_; // signalled when an operation ends that refers to this object
    std::uint64_t requests_ = 0;
    std::size_t running_ = 0; // coroutines that run a handler's rest()
    bool in_turn_ = false;
    bool sending_ = false;
    bool scheduled_ = false;
    bool awaits_writable_ = false;
    bool ended_ = false;   // the connection cannot go on
    bool closing_ = false; // serve() waits until nothing refers to this object
    bool abusive_ = false;
};

} // namespace stint::server
