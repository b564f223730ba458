// One downstream connection: reads heads, runs an exchange for each, and notices when the client
// has gone.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/deadlines.hpp"
#include "net/event.hpp"
#include "net/handler_memory.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "proxy/context.hpp"
#include "proxy/downstream/connection_slot.hpp"
#include "proxy/exchange.hpp"
#include "routing/client_address.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stint::tls {
class Server;
} // namespace stint::tls

namespace stint::proxy {

// The listener's options for a connection.
struct ListenerOptions {
    bool half_close_allowed = false;
    bool proxy_protocol = false;  // it begins with a PROXY header, which a trusted peer may send
    std::uint16_t https_port = 0; // redirect_http: where all its requests are sent to; 0 = nowhere
    std::shared_ptr<const tls::Server> tls{}; // nullptr: plain
};

// While no request body is being read, one read is always pending: it brings the next request,
// bytes that a client pipelines, or the client's close, at no cost beyond the read itself. An idle
// connection gives its buffer back after a second ("parked") and only waits.
class Downstream : public Listed, public Watched, public Sheddable, private net::Deadline {
  public:
    Downstream(
        Context& context,
        ConnectionSlot slot,
        net::Socket socket,
        const net::Endpoint& peer,
        ListenerOptions options);
    ~Downstream();

    // Serves the connection for its whole life and owns it. Never throws out of the coroutine.
    static net::Task<> serve(std::unique_ptr<Downstream> self);

    // Ends the connection soon if no request is under way and none has arrived; otherwise after the
    // response. To be called again and again while Context::draining.
    void drain() noexcept;
    // Ends the connection. Requires: it is on Context::parked or Context::lingering.
    void shed() noexcept override;
    // Ends the connection now: the request under way fails.
    void abort() noexcept;
    // Asks the kernel whether the client has gone, where no read has reported it yet. Called with
    // every tick while in Context::watched, when it has closed while in Context::guarded, and when
    // a wait ends, before its result is taken.
    void poll_peer_close();

    // --- for the exchange under way ---
    [[nodiscard]] net::Stream& stream() noexcept { return stream_; }
    // Returns the client that a PROXY header names, else the connected peer.
    [[nodiscard]] const routing::ClientAddress& peer() const noexcept { return peer_; }
    [[nodiscard]] bool secure() noexcept { return stream_.tls() != nullptr; }
    // Returns the subject of the client's certificate; empty: it has shown none.
    [[nodiscard]] std::string_view tls_subject() noexcept {
        return secure() ? std::string_view{stream_.tls()->peer_subject()} : std::string_view{};
    }
    // Reads from the client. co_await it while nothing else reads.
    [[nodiscard]] auto read_some(std::span<char> into) {
        return net::read_some(stream_, into, read_memory_);
    }
    // True if nothing more comes in. A socket whose end has been read reports it only once: Asio
    // would wait for news of it that never come.
    [[nodiscard]] bool input_ended() const noexcept { return input_error_.failed(); }
    // Returns the port that the listener redirects all requests to, under https; 0: it serves them.
    [[nodiscard]] std::uint16_t https_port() const noexcept { return options_.https_port; }
    // Returns the bytes from the head's first one on. They stay in place until the exchange ends.
    [[nodiscard]] std::span<char> received() const noexcept {
        return {block_.data() + begin_, end_ - begin_};
    }
    // Room for bytes that were read beyond the request's body: the beginning of the next request.
    [[nodiscard]] std::size_t room() const noexcept { return block_.size() - end_; }
    void keep_surplus(std::span<const char> bytes) noexcept; // at most room()
    // Forgets what lies behind the first `size` bytes received: it was forwarded. Makes room().
    void drop_behind(std::size_t size) noexcept { end_ = begin_ + size; }
    // Reads on for the next request, or the client's close: the whole request has been read.
    void watch();
    // Watches the client while no read is pending: the worker's next tick notices its close.
    void watch_from_afar();
    // Stops that: a read is pending again, and reports the close.
    void watch_no_more() noexcept { Watched::unlink(); }
    // Hands the input to a tunnel, which reads from stream() itself: ends once no read is pending
    // here. Bytes received until then are in received().
    [[nodiscard]] net::Task<> hand_over();
    [[nodiscard]] bool was_reset() const noexcept {
        return input_error_ && input_error_ != net::asio::error::eof;
    }
    // Calls Exchange::on_client_stalled() unless disarmed or armed again in time.
    void arm_body_deadline(Duration length);
    void disarm_body_deadline() noexcept { disarm(); }

  private:
    // The wait that the deadline is armed for.
    enum class Phase : std::uint8_t { head, idle, parked, exchange, linger, pause };
    // The lingering close: a client that may still be sending when it has its answer is not closed
    // at once.
    enum class Lingers : std::uint8_t { no, briefly, yes };

    net::Task<> serve_requests(ObjectPool<Exchange>::Pointer& exchange);
    net::Task<bool> receive_proxy_header();
    net::Task<bool> shake_hands();
    void answer_plain_http();
    bool acquire_client_slot();
    void turn_away();
    bool head_complete() noexcept;
    bool read_on();
    bool head_too_slow() noexcept;
    [[nodiscard]] std::size_t max_head() const noexcept;
    [[nodiscard]] bool is_target_too_long() const noexcept;
    bool begin_reading() noexcept;
    void cancel_reading() noexcept;
    void on_read(const ErrorCode& error, std::size_t size);
    void on_input_ended(const ErrorCode& error);
    void guard() noexcept;
    void wake();
    void await_next_head();
    void park() noexcept;
    bool nothing_came(const ErrorCode& error) noexcept;
    void on_parked_readable(const ErrorCode& error);
    void compact() noexcept;
    void arm(Phase phase, Duration length);
    void on_deadline() noexcept override;
    [[nodiscard]] bool may_answer() const noexcept;
    ObjectPool<Exchange>::Pointer begin_exchange();
    net::Task<Exchange::Result> reject_head(Exchange& exchange);
    bool end_exchange(const Exchange::Result& result);
    net::Task<> close_gently();

    Context& context_;
    ConnectionSlot slot_;
    net::Stream stream_;
    routing::ClientAddress peer_;
    ClientConnections::Slot client_slot_; // among those of its client, if they are counted
    net::HandlerMemory read_memory_;
    net::Event input_; // signalled when a pending operation on the client's input ends
    net::Block block_; // [begin_, end_) of it was received and not consumed
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0;   // how much of it has been searched for the end of a head
    std::size_t head_size_ = 0; // size of the complete head at begin_; 0 = none yet
    SteadyTime head_begun_{};   // when its first part was there; zero for one that came whole
    Exchange* exchange_ = nullptr;
    ErrorCode input_error_; // why nothing more comes in, the end of the stream included
    Phase phase_ = Phase::head;
    std::uint8_t pending_ = 0; // operations whose handlers refer to this object
    bool reading_ = false;     // a read (or a parked wait for one) is among them
    bool parking_ = false;     // that read was cancelled to give its buffer back
    bool draining_ = false;    // it was cancelled to end an idle connection
    bool empty_line_passed_ = false;
    bool timed_out_ = false; // a head took too long
    bool handed_over_ = false;
    std::uint8_t looks_ = 0; // polls that found it open, since it is watched
    Lingers lingers_ = Lingers::no;
    const ListenerOptions options_;
};

} // namespace stint::proxy
