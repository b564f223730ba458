#include "server/client_input.hpp"

#include "net/io.hpp"

#include <new>
#include <utility>

namespace stint::server {

bool ClientInput::can_answer() const noexcept {
    return !error_ || (half_close_allowed_ && error_ == net::asio::error::eof);
}

bool ClientInput::begin_reading(net::BufferPool& blocks) noexcept {
    try {
        if (!received_.has_block())
            received_.borrow(blocks);
    } catch (const std::bad_alloc&) {
        error_ = net::asio::error::no_memory;
        return false;
    }
    start_read();
    return true;
}

void ClientInput::start_read() noexcept {
    reading_ = true;
    net::read_some_then(
        io_, received_.room(), read_memory_,
        [this](const ErrorCode& error, std::size_t size) { on_read(error, size); });
}

void ClientInput::on_read(const ErrorCode& error, std::size_t size) {
    reading_ = false;
    const bool parking = std::exchange(parking_, false);
    if (std::exchange(closing_, false) && nothing_came(error))
        net::close(io_);
    if (parking && error == net::asio::error::operation_aborted && io_.socket().is_open() &&
        !net::has_buffered(io_))
        return await_readable();
    if (error)
        return on_ended(error);
    received_.add(size);
    if (ended_.has_waiter())
        return wake();
    watch(); // the bytes are pipelined behind the request in flight
}

void ClientInput::on_ended(const ErrorCode& error) {
    const bool only_cancelled =
        error == net::asio::error::operation_aborted && io_.socket().is_open();
    if (only_cancelled)
        return wake();
    error_ = error;
    if (handler_ == nullptr || ended_.has_waiter())
        return wake();
    if (can_answer())
        watch_from_afar();
    else
        handler_->on_client_gone();
}

net::Task<> ClientInput::stop() {
    parking_ = false; // a read that was cancelled to park must not become a wait now
    while (reading_) {
        net::cancel(io_);
        co_await ended_.wait();
    }
}

net::Task<> ClientInput::hand_over() {
    handed_over_ = true;
    Watched::unlink();
    return stop();
}

void ClientInput::watch() noexcept {
    if (reading_ || error_)
        return;
    if (received_.room().empty())
        return watch_from_afar();
    start_read();
    Watched::unlink();
}

void ClientInput::watch_from_afar() noexcept {
    if (Watched::is_linked())
        return;
    looks_ = 0;
    loop_.clients.watch(*this);
}

void ClientInput::poll_peer_close() {
    if (handed_over_) [[unlikely]]
        return handler_->poll_tunnel();
    if (handler_ == nullptr)
        return;
    if (!net::peer_closed(io_, !half_close_allowed_)) {
        if (Watched::is_linked()) // only then is no read pending
            guard();
        return;
    }
    Watched::unlink();
    if (!error_)
        error_ = net::asio::error::connection_reset;
    handler_->on_client_gone();
}

// From the second tick on, stops polling a stalled connection and lets the kernel report its close.
void ClientInput::guard() noexcept {
    constexpr std::uint8_t enough = 2;
    if (looks_ == enough || ++looks_ < enough)
        return;
    if (!loop_.clients.guard(*this, io_.socket().native_handle(), !half_close_allowed_))
        looks_ = 0;
}

void ClientInput::park() noexcept {
    if (!reading_ || !received_.empty())
        return;
    parking_ = true;
    net::cancel(io_);
}

void ClientInput::await_readable() {
    received_.release();
    if (net::TlsSession* tls = io_.tls())
        tls->release_memory();
    reading_ = true;
    loop_.parked.push_back(*this);
    const auto readable = [this](const ErrorCode& error) { on_parked_readable(error); };
    io_.socket().async_wait(net::Socket::wait_read, net::in_place(read_memory_, readable));
}

// Ends the wait of a parked input. The connection then reads on, unless the wait has failed.
void ClientInput::on_parked_readable(const ErrorCode& error) {
    shed_no_more();
    reading_ = false;
    const bool closing = std::exchange(closing_, false);
    if (closing && nothing_came(error))
        net::close(io_);
    if (error && !(closing && io_.socket().is_open()))
        return on_ended(error);
    wake();
}

void ClientInput::close_if_silent() noexcept {
    if (!received_.empty() || !reading_)
        return;
    closing_ = true;
    net::cancel(io_);
}

void ClientInput::shed() noexcept {
    shed_no_more();
    net::close(io_);
}

// True if the operation was cancelled before anything came, and nothing has arrived since.
bool ClientInput::nothing_came(const ErrorCode& error) noexcept {
    return error == net::asio::error::operation_aborted && io_.socket().is_open() &&
           net::probe(io_) == net::SocketState::silent && !net::has_buffered(io_);
}

} // namespace stint::server
