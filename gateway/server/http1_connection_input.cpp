// Input of an HTTP/1 connection: read when it is waited for, and no further than there is room.
#include "http/request_line.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"

#include <new>
#include <utility>

namespace stint::server {

net::Task<bool> Http1Connection::receive_more() {
    if (!read_on())
        co_return false;
    co_await input_.wait();
    co_return true;
}

// Sees to it that a read is pending. False: waiting for more input makes no sense.
bool Http1Connection::read_on() {
    if (input_error_ || timed_out_)
        return false;
    if (!received_.empty() && head_too_slow())
        return false;
    if (phase_ != Phase::head && !received_.empty())
        arm(Phase::head, settings().head_timeout);
    if (reading_)
        return true;
    received_.make_room(received_.room().empty());
    if (received_.has_block() && (received_.room().empty() ||
                                  received_.size() >= settings().max_head || is_target_too_long()))
        return false;
    return begin_reading();
}

// True if a partial head is too slow. Checks the average when more comes; a timeout catches
// silence.
bool Http1Connection::head_too_slow() noexcept {
    const SteadyTime now = net::read_coarse_clock();
    if (head_begun_ == SteadyTime{})
        head_begun_ = now;
    if (!settings().min_head_rate.missed_by(received_.size(), now - head_begun_))
        return false;
    ++loop_.counters.slow_heads;
    return timed_out_ = true;
}

// True if the target of the head that has begun is too long, as far as it has come.
bool Http1Connection::is_target_too_long() const noexcept {
    const std::span<char> bytes = received_.bytes();
    return settings().max_target != ConnectionSettings::unlimited &&
           http::target_too_long({bytes.data(), bytes.size()}, settings().max_target);
}

// Starts a read. False, with input_error_ set, where memory has run out: the connection ends.
bool Http1Connection::begin_reading() noexcept {
    try {
        if (!received_.has_block())
            received_.borrow(*settings().head_blocks);
    } catch (const std::bad_alloc&) {
        input_error_ = net::asio::error::no_memory;
        return false;
    }
    reading_ = true;
    ++pending_;
    net::read_some_then(
        io_, received_.room(), read_memory_,
        [this](const ErrorCode& error, std::size_t size) { on_read(error, size); });
    return true;
}

void Http1Connection::on_read(const ErrorCode& error, std::size_t size) {
    reading_ = false;
    --pending_;
    const bool parking = std::exchange(parking_, false);
    if (std::exchange(draining_, false) && nothing_came(error))
        net::close(io_);
    if (parking && error == net::asio::error::operation_aborted && io_.socket().is_open() &&
        !net::has_buffered(io_)) {
        received_.release();
        if (net::TlsSession* tls = io_.tls())
            tls->release_memory();
        reading_ = true;
        ++pending_;
        loop_.parked.push_back(*this);
        const auto readable = [this](const ErrorCode& failed) { on_parked_readable(failed); };
        return io_.socket().async_wait(
            net::Socket::wait_read, net::in_place(read_memory_, readable));
    }
    if (error)
        return on_input_ended(error);
    received_.add(size);
    if (input_.has_waiter())
        return wake();
    watch(); // pipelined while a request is under way
}

void Http1Connection::on_input_ended(const ErrorCode& error) {
    const bool only_cancelled =
        error == net::asio::error::operation_aborted && io_.socket().is_open();
    if (only_cancelled)
        return wake();
    input_error_ = error;
    if (handler_ == nullptr || input_.has_waiter())
        return wake();
    const bool may_still_listen = error == net::asio::error::eof && options_.half_close_allowed;
    if (may_still_listen)
        watch_from_afar();
    else
        handler_->on_client_gone();
}

// Resumes the coroutine, which may end, and this object with it: nothing may be touched afterwards.
void Http1Connection::wake() {
    input_.signal();
}

void Http1Connection::watch() noexcept {
    if (reading_ || input_error_)
        return;
    if (received_.room().empty() || !begin_reading())
        watch_from_afar();
    else
        Watched::unlink();
}

void Http1Connection::watch_from_afar() noexcept {
    if (Watched::is_linked())
        return;
    looks_ = 0;
    loop_.clients.watch(*this);
}

// Stops polling a connection that stalls: from the second tick on the kernel reports its close.
void Http1Connection::guard() noexcept {
    constexpr std::uint8_t enough = 2;
    if (looks_ == enough || ++looks_ < enough)
        return;
    if (!loop_.clients.guard(*this, !options_.half_close_allowed))
        looks_ = 0;
}

net::Task<> Http1Connection::hand_over() {
    handed_over_ = true;
    Watched::unlink();
    while (reading_) {
        net::cancel(io_);
        co_await input_.wait();
    }
}

void Http1Connection::poll_peer_close() {
    if (handed_over_) [[unlikely]]
        return handler_->poll_tunnel();
    if (handler_ == nullptr)
        return;
    if (!net::peer_closed(io_, !options_.half_close_allowed)) {
        if (Watched::is_linked()) // not after a wait, while a read is pending
            guard();
        return;
    }
    Watched::unlink();
    if (!input_error_)
        input_error_ = net::asio::error::connection_reset;
    handler_->on_client_gone();
}

void Http1Connection::park() noexcept {
    if (!reading_ || !received_.empty())
        return;
    parking_ = true;
    net::cancel(io_);
}

void Http1Connection::on_parked_readable(const ErrorCode& error) {
    Sheddable::unlink();
    reading_ = false;
    --pending_;
    const bool draining = std::exchange(draining_, false);
    if (draining && nothing_came(error))
        net::close(io_);
    if (error && !(draining && io_.socket().is_open()))
        return on_input_ended(error);
    if (!begin_reading())
        wake();
}

// True if a cancelled read, or wait for one, brought nothing, and nothing has arrived since.
bool Http1Connection::nothing_came(const ErrorCode& error) noexcept {
    return error == net::asio::error::operation_aborted && io_.socket().is_open() &&
           net::probe(io_) == net::SocketState::silent && !net::has_buffered(io_);
}

} // namespace stint::server
