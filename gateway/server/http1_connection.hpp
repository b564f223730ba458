// One downstream connection that speaks HTTP/1: reads heads, has each request handled, and notices
// when the client has gone. Start reading at serve().
#pragma once

#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/handler_memory.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "routing/client_address.hpp"
#include "server/client_connections.hpp"
#include "server/connection_slot.hpp"
#include "server/http1_stream.hpp"
#include "server/loop.hpp"
#include "server/received_bytes.hpp"
#include "server/request_handler.hpp"
#include "server/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stint::server {

// While no request body is being read, one read is always pending: it brings the next request,
// bytes that a client pipelines, or the client's close, at no cost beyond the read itself. An idle
// connection gives its buffer back after a second ("parked") and only waits.
class Http1Connection final : public Listed,
                              public Watched,
                              public Sheddable,
                              private net::Deadline {
  public:
    Http1Connection(
        Loop& loop,
        Service& service,
        ConnectionSlot slot,
        net::Socket socket,
        const net::Endpoint& peer,
        ListenerOptions options);
    ~Http1Connection();

    // Serves the connection for its whole life and owns it. Never throws out of the coroutine.
    static net::Task<> serve(std::unique_ptr<Http1Connection> self);

    // Ends the connection soon if no request is under way and none has arrived; otherwise after the
    // response. To be called again and again while Loop::draining.
    void drain() noexcept;
    // Ends the connection. Requires: it is on Loop::parked or Loop::lingering.
    void shed() noexcept override;
    // Ends the connection now: the request under way fails.
    void abort() noexcept;
    // Asks the kernel whether the client has gone, where no read has reported it yet. Called by
    // Loop::clients, and when a wait ends, before its result is taken.
    void poll_peer_close();

    // --- for its entry and its stream ---
    [[nodiscard]] Loop& loop() noexcept { return loop_; }
    [[nodiscard]] const ConnectionSettings& settings() const noexcept {
        return service_.settings();
    }
    [[nodiscard]] const ListenerOptions& options() const noexcept { return options_; }
    [[nodiscard]] net::Stream& io() noexcept { return io_; }
    [[nodiscard]] ReceivedBytes& received() noexcept { return received_; }
    [[nodiscard]] routing::ClientAddress& peer() noexcept { return peer_; }
    // Holds a connection slot of the client for the connection's life.
    void hold(ClientConnections::Slot slot) noexcept { client_slot_ = std::move(slot); }
    // Waits for more bytes of a head. False: none come in time, or there is no room.
    [[nodiscard]] net::Task<bool> receive_more();
    // Returns why nothing more comes in, the end of the stream included. A socket whose end has
    // been read reports it only once: Asio would wait for news of it that never come.
    [[nodiscard]] const ErrorCode& input_error() const noexcept { return input_error_; }
    [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }
    // Reads from the client. co_await it while nothing else reads.
    [[nodiscard]] auto read_some(std::span<char> into) {
        return net::read_some(io_, into, read_memory_);
    }
    // True while a read is pending, or a wait for one.
    [[nodiscard]] bool reads() const noexcept { return reading_; }
    // Reads on for the next request, or the client's close: the whole request has been read.
    void watch() noexcept;
    // Watches the client while no read is pending: the worker's next tick notices its close.
    void watch_from_afar() noexcept;
    // Stops that: a read is pending again, and reports the close.
    void watch_no_more() noexcept { Watched::unlink(); }
    // Hands the input to a tunnel, which reads from io() itself: ends once no read is pending here.
    // Bytes received until then are in received().
    [[nodiscard]] net::Task<> hand_over();
    // Cancels reading unless disarmed in time: the rest of a body is dropped no longer.
    void arm_discard(Duration length) { arm(Phase::discard, length); }
    void disarm_discard() noexcept { disarm(); }
    void resume(Step next);

  private:
    // The wait that the deadline is armed for.
    enum class Phase : std::uint8_t { head, idle, parked, send, discard, linger, pause };
    // The lingering close: a client that may still be sending when it has its answer is not closed
    // at once.
    enum class Lingers : std::uint8_t { no, briefly, yes };

    net::Task<> serve_requests();
    net::Task<bool> flush_batch();
    net::Task<bool> flush_response();
    [[nodiscard]] bool has_batch() const noexcept { return stream_ && stream_->has_batch(); }
    [[nodiscard]] Step begin_request();
    [[nodiscard]] Step reject_head();
    [[nodiscard]] bool end_request(const RequestEnd& end);
    net::Task<> close_gently();
    bool read_on();
    bool head_too_slow() noexcept;
    [[nodiscard]] bool is_target_too_long() const noexcept;
    bool begin_reading() noexcept;
    void on_read(const ErrorCode& error, std::size_t size);
    void on_input_ended(const ErrorCode& error);
    void guard() noexcept;
    void wake();
    void await_next_head();
    void park() noexcept;
    bool nothing_came(const ErrorCode& error) noexcept;
    void on_parked_readable(const ErrorCode& error);
    void arm(Phase phase, Duration length);
    void on_deadline() noexcept override;
    [[nodiscard]] bool may_answer() const noexcept;

    Loop& loop_;
    Service& service_;
    ConnectionSlot slot_;
    net::Stream io_;
    routing::ClientAddress peer_;
    ClientConnections::Slot client_slot_; // among those of its client, if they are counted
    net::HandlerMemory read_memory_;
    net::Event input_;   // signalled when a pending operation on the client's input ends
    net::Event resumed_; // signalled by resume()
    ReceivedBytes received_;
    SteadyTime head_begun_{}; // when its first part was there; zero for one that came whole
    ErrorCode input_error_;   // why nothing more comes in, the end of the stream included
    Phase phase_ = Phase::head;
    Step next_ = Step::done;   // resume()'s
    std::uint8_t pending_ = 0; // operations whose handlers refer to this object
    bool reading_ = false;     // a read (or a parked wait for one) is among them
    bool parking_ = false;     // that read was cancelled to give its buffer back
    bool draining_ = false;    // it was cancelled to end an idle connection
    bool timed_out_ = false;   // a head took too long
    bool handed_over_ = false;
    std::uint8_t looks_ = 0; // polls that found it open, since it is watched
    Lingers lingers_ = Lingers::no;
    const ListenerOptions options_;
    std::unique_ptr<Session> session_;
    ConnectionInfo info_;        // for its streams
    StreamPool::Pointer stream_; // null between two requests
    RequestHandlerPtr handler_;  // the request under way has it
};

} // namespace stint::server
