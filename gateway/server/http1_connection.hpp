// One downstream connection that speaks HTTP/1: reads heads, has each request handled, and notices
// when the client has gone. Start reading at serve().
#pragma once

#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "routing/client_address.hpp"
#include "server/client_connections.hpp"
#include "server/client_input.hpp"
#include "server/connection_slot.hpp"
#include "server/http1_stream.hpp"
#include "server/http2_connection.hpp"
#include "server/loop.hpp"
#include "server/request_handler.hpp"
#include "server/settings.hpp"
#include "server/successor.hpp"

#include <cstdint>
#include <memory>

namespace stint::server {

// A client that speaks HTTP/2 is served by an Http2Connection, which uses this one's socket. An
// idle connection gives its buffer back after a second ("parked"), and then only waits until bytes
// arrive.
class Http1Connection final : public Listed, private net::Deadline {
  public:
    Http1Connection(
        Loop& loop,
        Service& service,
        ConnectionSlot slot,
        net::Socket socket,
        const IpAddress& peer,
        ListenerOptions options);
    ~Http1Connection();

    // Goes on with a connection of the process that this one has replaced. Call it before serve().
    // Throws without memory. handed: its socket was taken.
    void continue_from(HandedConnection handed);

    // Serves the connection for its whole life and owns it. Never throws out of the coroutine.
    static net::Task<> serve(std::unique_ptr<Http1Connection> self);

    // Ends the connection soon if no request is in flight and none has arrived; otherwise after the
    // response. A client that has just connected gets some time for its first request, which it
    // could not know to be late. Called with every tick while Loop::draining. If there is a
    // Totals::successor, the connection is handed over instead, where it can be.
    void drain() noexcept;
    // Ends the connection now. A request in flight fails.
    void abort() noexcept;

    // --- for its entry and its stream ---
    [[nodiscard]] Loop& loop() noexcept { return loop_; }
    [[nodiscard]] const ConnectionSettings& settings() const noexcept {
        return service_.settings();
    }
    [[nodiscard]] const ListenerOptions& options() const noexcept { return options_; }
    [[nodiscard]] net::Stream& io() noexcept { return io_; }
    [[nodiscard]] ClientInput& input() noexcept { return input_; }
    [[nodiscard]] routing::ClientAddress& peer() noexcept { return peer_; }
    [[nodiscard]] Service& service() noexcept { return service_; }
    [[nodiscard]] Session* session() noexcept { return session_.get(); }
    [[nodiscard]] const ConnectionInfo& info() const noexcept { return info_; }
    // Holds a connection slot of the client for the connection's life.
    void hold(ClientConnections::Slot slot) noexcept { client_slot_ = std::move(slot); }
    // Waits for more bytes of a head. Returns false if no more can be received: too slow, too long,
    // or the input has ended.
    [[nodiscard]] net::Task<bool> receive_more();
    [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }
    // Arms a deadline that ends the reading of a request body which is only discarded.
    void arm_discard(Duration length) { arm(Phase::discard, length); }
    void disarm_discard() noexcept { disarm(); }
    // Goes on with the request in flight: see ClientStream::resume().
    void resume(Step next);

  private:
    // The wait that the deadline is armed for. first: for the first head of a new connection;
    // last_chance: for its first bytes in a drain.
    enum class Phase : std::uint8_t {
        first,
        last_chance,
        head,
        idle,
        parked,
        send,
        discard,
        linger,
        pause
    };
    // How the connection ends: a client that may still be sending is not closed at once.
    enum class Ending : std::uint8_t { close, linger_briefly, linger, hand_over };

    void introduce() noexcept;
    net::Task<> serve_http2();
    net::Task<> serve_requests();
    net::Task<> finish();
    net::Task<bool> flush_batch();
    net::Task<bool> flush_response();
    [[nodiscard]] bool has_batch() const noexcept { return stream_ && stream_->has_batch(); }
    [[nodiscard]] Step begin_request();
    [[nodiscard]] Step reject_head();
    [[nodiscard]] bool end_request(const RequestEnd& end);
    net::Task<> close_gently();
    bool read_on();
    bool head_too_slow() noexcept;
    [[nodiscard]] bool is_target_too_long() noexcept;
    void await_next_head();
    void arm(Phase phase, Duration length);
    void on_deadline() noexcept override;

    Loop& loop_;
    Service& service_;
    ConnectionSlot slot_;
    net::Stream io_;
    routing::ClientAddress peer_;
    ClientConnections::Slot client_slot_; // counts against max_connections_per_client
    net::Event resumed_;                  // signalled by resume()
    ClientInput input_;
    SteadyTime head_begun_{}; // arrival of the current head's first part, if more was needed
    Phase phase_ = Phase::first;
    Step next_ = Step::done; // set by resume()
    bool timed_out_ = false; // a head took too long
    Ending ending_ = Ending::close;
    const ListenerOptions options_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<HandedConnection> handed_; // null: a client has opened the connection
    ConnectionInfo info_;                      // given to its streams
    StreamPool<Http1Stream>::Pointer stream_;  // null between two requests
    RequestHandlerPtr handler_;                // handler of the request in flight, else null
    std::unique_ptr<Http2Connection> http2_;   // null unless the client speaks HTTP/2
};

} // namespace stint::server
