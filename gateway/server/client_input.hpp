// Input of one downstream connection: the bytes received, the read that brings more, and the news
// that the client has gone.
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

// While no request body is being read, one read is always pending: it brings the next request,
// bytes that a client pipelines, or the client's close, at no cost beyond the read itself. A parked
// input has given its buffer back and only waits until the socket is readable. Used on the thread
// of its connection, which waits until reads() is false before it ends.
class ClientInput final : public Watched, public Sheddable {
  public:
    // handler: the connection's, null between two requests; it learns that the client has gone.
    // half_close_allowed: a client may close its sending side and still read the response.
    // References outlive this.
    ClientInput(
        Loop& loop, net::Stream& io, const RequestHandlerPtr& handler, bool half_close_allowed)
        : loop_{loop}, io_{io}, handler_{handler}, half_close_allowed_{half_close_allowed} {}

    [[nodiscard]] ReceivedBytes& received() noexcept { return received_; }
    // Returns why nothing more comes in, the end of the stream included. A socket whose end has
    // been read reports it only once: Asio would wait for news of it that never come.
    [[nodiscard]] const ErrorCode& error() const noexcept { return error_; }
    // True if the client can still read a response, as far as its input tells.
    [[nodiscard]] bool can_answer() const noexcept;

    // True while a read is pending, or a wait for one.
    [[nodiscard]] bool reads() const noexcept { return reading_; }
    // Starts a read into received(). False, with error() set, if there is no memory. Requires:
    // !reads(). blocks: where a block is borrowed if received() has none.
    [[nodiscard]] bool begin_reading(net::BufferPool& blocks) noexcept;
    // co_await it until a read has ended, or wake().
    [[nodiscard]] auto wait() { return ended_.wait(); }
    // Resumes the coroutine in wait(), which may destroy this: nothing may be touched afterwards.
    void wake() { ended_.signal(); }
    // Cancels the pending read, if there is one, and waits for its end.
    [[nodiscard]] net::Task<> stop();
    // Reads elsewhere than into received(): a request's body. Requires: !reads().
    [[nodiscard]] auto read_some(std::span<char> into) {
        return net::read_some(io_, into, read_memory_);
    }
    // Hands the input to a tunnel, which reads from the socket itself: ends once no read is pending
    // here. Bytes received until then are in received().
    [[nodiscard]] net::Task<> hand_over();

    // Reads on for the next request or the client's close. Call it when the whole request has been
    // read.
    void watch() noexcept;
    // Watches the client while no read is pending: the worker's next tick notices its close.
    void watch_from_afar() noexcept;
    // Stops that: a read is pending again, and reports the close.
    void watch_no_more() noexcept { Watched::unlink(); }
    // Asks the kernel whether the client has gone, where no read has reported it yet. Called by
    // Loop::clients, and when a wait ends, before its result is taken.
    void poll_peer_close();

    // Parks the input, unless something has come.
    void park() noexcept;
    // Closes the connection soon if nothing has come and nothing comes meanwhile.
    void close_if_silent() noexcept;
    // Closes the connection. Requires: its input is on Loop::parked or Loop::lingering.
    void shed() noexcept override;
    // Takes it off those lists.
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
    bool parking_ = false; // it was cancelled to give its buffer back
    bool closing_ = false; // it was cancelled to close a silent connection
    bool handed_over_ = false;
    std::uint8_t looks_ = 0; // polls that found the connection open, since it is watched
};

} // namespace stint::server
