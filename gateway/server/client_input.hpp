// Input of one downstream connection: the bytes received, the pending read, and the detection of a
// client that has gone.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/event.hpp"
#include "net/handler_memory.hpp"
#include "net/stream.hpp"
#include "net/types.hpp"
#include "server/client_watch.hpp"
#include "server/loop.hpp"
#include "server/received_bytes.hpp"
#include "server/request_handler.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stint::server {

// While no request body is being read, a read is usually pending: it brings the next request, bytes
// that a client pipelines, or the client's close, at no cost beyond the read itself. When none is
// pending, watch_from_afar() polls for the close. A parked input has given its buffer back and only
// waits until the socket is readable. Used on the thread of its connection. The connection must not
// end before reads() is false.
class ClientInput final : public Watched, public Sheddable {
  public:
    // handler: the connection's pointer to the handler of its request, null between two requests.
    // Its on_client_gone() is called when the client has gone. half_close_allowed: a client may
    // close its sending side and still read the response. All references must outlive this object.
    ClientInput(
        Loop& loop, net::Stream& io, const RequestHandlerPtr& handler, bool half_close_allowed)
        : loop_{loop}, io_{io}, handler_{handler}, half_close_allowed_{half_close_allowed} {}

    [[nodiscard]] ReceivedBytes& received() noexcept { return received_; }
    // Returns the error, or the end of the stream, after which nothing more comes in. It is kept
    // because a socket reports its end only once: a second read would wait for ever.
    [[nodiscard]] const ErrorCode& error() const noexcept { return error_; }
    // True if the client may still read a response: its input has not failed and, unless
    // half_close_allowed, has not ended.
    [[nodiscard]] bool can_answer() const noexcept;

    // True while a read is pending, or a wait until the socket is readable.
    [[nodiscard]] bool reads() const noexcept { return reading_; }
    // Starts a read into received(). False, with error() set, if there is no memory. Requires:
    // !reads(). blocks: the pool to borrow a block from if received() has none.
    [[nodiscard]] bool begin_reading(net::BufferPool& blocks) noexcept;
    // Returns an awaitable that ends when a read has ended, or with wake().
    [[nodiscard]] auto wait() { return ended_.wait(); }
    // Resumes the coroutine in wait(). It may destroy this object, which must not be used
    // afterwards.
    void wake() { ended_.signal(); }
    // Cancels the pending read, if there is one, and waits for its end.
    [[nodiscard]] net::Task<> stop();
    // Reads bytes of a request's body into `into`, and not into received(). Requires: !reads().
    [[nodiscard]] auto read_some(std::span<char> into) {
        return net::read_some(io_, into, read_memory_);
    }
    // Hands the input over to a tunnel, which reads from the socket itself. Waits until no read of
    // this object is pending. Bytes received until then are in received().
    [[nodiscard]] net::Task<> hand_over();

    // Keeps a read pending, for the next request or the client's close. Call it when the whole
    // request has been read.
    void watch() noexcept;
    // Polls for the client's close with every tick (ClientWatch). For times in which no read is
    // pending.
    void watch_from_afar() noexcept;
    // Stops the polling of watch_from_afar(): a read is pending again, and reports the close.
    void watch_no_more() noexcept { Watched::unlink(); }
    // Asks the kernel whether the client has gone, in case no read has reported it, and calls the
    // handler's on_client_gone() if it has. After hand_over(), calls the handler's poll_tunnel()
    // instead. Called by Loop::clients, and when a wait of the request ends, before the wait's
    // result is used.
    void poll_peer_close();

    // Parks the input (gives its buffer back), unless bytes have come.
    void park() noexcept;
    // Closes the connection soon, unless bytes have come or come meanwhile.
    void close_if_silent() noexcept;
    // Closes the connection. Requires: its input is on Loop::parked or Loop::lingering.
    void shed() noexcept override;
    // Takes the input off Loop::parked or Loop::lingering.
    void shed_no_more() noexcept { Sheddable::unlink(); }

  private:
    void start_read() noexcept;
    void on_read(const ErrorCode& error, std::size_t size);
    void on_ended(const ErrorCode& error);
    void await_readable();
    void on_parked_readable(const ErrorCode& error);
    void guard() noexcept;
    bool nothing_came(const ErrorCode& error) noexcept;

    Loop& loop_;
    net::Stream& io_;
    const RequestHandlerPtr& handler_;
    net::HandlerMemory read_memory_;
    net::Event ended_; // signalled when a pending operation ends
    ReceivedBytes received_;
    ErrorCode error_;
    const bool half_close_allowed_;
    bool reading_ = false; // an operation is pending whose handler refers to this object
    bool parking_ = false; // the read was cancelled to give its buffer back
    bool closing_ = false; // the read was cancelled to close a silent connection
    bool handed_over_ = false;
    std::uint8_t looks_ = 0; // polls since watch_from_afar() that found an open connection
};

} // namespace stint::server
