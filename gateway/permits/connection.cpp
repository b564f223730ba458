#include "permits/connection.hpp"

#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/linger.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace stint::permits {
namespace {

using namespace std::chrono_literals;

// Bytes of replies that are collected before they are sent.
constexpr std::size_t flush_from = 32 * 1024;

constexpr Duration between_events = 1s; // on a stream

void cancel(net::Socket& socket) noexcept {
    ErrorCode ignored;
    socket.cancel(ignored);
}

} // namespace

Connection::Connection(
    Service& service, server::ConnectionSlot slot, net::Socket socket, const net::Endpoint& peer)
    : service_{service}, slot_{std::move(slot)}, socket_{std::move(socket)},
      peer_{IpAddress::from_bytes(net::PeerAddress{peer}.bytes()), service.context.shared.hasher},
      buffer_(first_buffer), connection_leases_{
                                 service.shared.locks, service.shared.connection_leases.fetch_add(
                                                           1, std::memory_order_relaxed) +
                                                           1} {
    service_.context.shared.connections.fetch_add(1, std::memory_order_relaxed);
    ++service_.context.counters.permit_connections;
}

Connection::~Connection() {
    if (service_.context.draining)
        connection_leases_.detach();
    service_.context.shared.connections.fetch_sub(1, std::memory_order_relaxed);
    --service_.context.counters.permit_connections;
}

net::Task<> Connection::serve(std::unique_ptr<Connection> self) {
    Connection& connection = *self;
    try {
        co_await connection.serve_all();
    } catch (const std::exception& failure) {
        if (connection.service_.context.shared.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request for a permit failed inside the gateway: {}", failure.what());
    }
    connection.pending_.reset();
    connection.disarm();
    net::close(connection.socket_);
    while (connection.watching_)
        co_await connection.watched_.wait();
}

net::Task<> Connection::serve_all() {
    arm(Phase::request);
    service_.context.head_out.clear();
    for (;;) {
        Step step = take_request();
        if (step == Step::body || step == Step::wait) [[unlikely]] {
            const Step later = co_await take_slowly(step);
            step = later;
        }
        if (step == Step::gone)
            co_return;
        if (step == Step::done && more_to_answer())
            continue;
        Sent sent = send_now();
        if (sent == Sent::part) [[unlikely]] {
            const Sent rest = co_await send_rest();
            sent = rest;
        }
        if (sent == Sent::failed)
            co_return;
        if (step == Step::stream)
            co_return co_await stream();
        if (step == Step::refuse || (step == Step::done && !keep_alive_))
            co_return co_await close_gently();
        if (step == Step::done && begin_ < end_)
            continue;
        if (begin_ == end_ && service_.context.draining) {
            if (!take_arrived())
                co_return;
            continue;
        }
        begin_reading();
        auto [error, size] = co_await net::read_some(socket_, room(), read_memory_);
        if (!end_reading(error, size))
            co_return co_await give_up();
    }
}

// True if another request is handled first: replies to pipelined requests go out together.
bool Connection::more_to_answer() const noexcept {
    return keep_alive_ && begin_ < end_ && service_.context.head_out.view().size() < flush_from;
}

// Sends the replies so far before it waits for anything.
net::Task<Connection::Step> Connection::take_slowly(Step step) {
    const Sent sent = co_await flush();
    if (sent == Sent::failed)
        co_return Step::gone;
    if (step == Step::body) {
        const Step read = co_await read_body();
        if (read != Step::wait)
            co_return read;
    }
    const Step answered = co_await wait_for_answer();
    co_return answered;
}

// Ends the connection. A caller that was too slow gets a 408.
net::Task<> Connection::give_up() {
    if (!timed_out_)
        co_return;
    (void)reject(408, "the request did not arrive in time");
    const Sent sent = co_await flush();
    if (sent == Sent::all)
        co_await close_gently();
}

net::Task<Connection::Step> Connection::wait_for_answer() {
    arm(Phase::waiting);
    ++service_.context.counters.permits_waiting;
    bool settled = false;
    while (!settled && !gone_) {
        watch();
        while (!pending_->is_over())
            co_await pending_->over().wait();
        co_await stop_watching();
        gone_ = gone_ || net::peer_closed(socket_, true); // a FIN or a reset that was not read yet
        settled = !gone_ && pending_->settle();
    }
    --service_.context.counters.permits_waiting;
    disarm();
    service_.context.head_out.clear();
    if (gone_)
        co_return Step::gone;
    keep_alive_ = keep_alive_ && !service_.context.draining;
    pending_->respond(service_.context.response);
    write_response();
    if (pending_->streams())
        co_return Step::stream;
    pending_.reset();
    co_return Step::done;
}

// Watches for input, which is kept for later.
void Connection::watch() {
    socket_.async_wait(
        net::Socket::wait_read, [this](const ErrorCode& error) { on_readable(error); });
    watching_ = true;
}

net::Task<> Connection::stop_watching() {
    if (watching_)
        cancel(socket_);
    while (watching_)
        co_await watched_.wait();
}

void Connection::on_readable(const ErrorCode& error) {
    watching_ = false;
    try {
        if (!error && is_watched() && listen_on())
            return;
    } catch (const std::exception&) { // no memory to watch it with
        leave();
    }
    watched_.signal();
}

bool Connection::is_watched() const noexcept {
    return streaming_ ? armed() : pending_ && !pending_->is_over();
}

// Notes that the caller has gone.
void Connection::leave() noexcept {
    gone_ = true;
    if (!streaming_ && pending_ && !pending_->is_over())
        pending_->give_up();
}

// Reads input, and decides whether to watch on: not once the caller has gone, nor while it has sent
// more than there is room for. In that case its reply will find it gone.
bool Connection::listen_on() {
    const std::span<char> free = room();
    if (free.empty())
        return false;
    const net::Received got = net::read_now(socket_, free);
    if (!streaming_) // during a stream, input is dropped
        end_ += got.size;
    if (!got.error || got.error == net::asio::error::would_block) {
        watch();
        return true;
    }
    leave();
    return false;
}

// Sends the replies so far, as much as goes at once.
Connection::Sent Connection::send_now() {
    http::HeadBuffer& out = service_.context.head_out;
    net::Gather gather;
    gather.add(out.view());
    const ErrorCode failed = net::write_now(socket_, gather);
    pending_response_.clear();
    gather.append_to(pending_response_);
    out.clear();
    if (!failed && pending_response_.empty())
        connection_leases_.sent();
    return failed ? Sent::failed : pending_response_.empty() ? Sent::all : Sent::part;
}

// Sends the rest of it.
net::Task<Connection::Sent> Connection::send_rest() {
    net::Gather rest;
    rest.add(pending_response_);
    arm(Phase::request);
    while (!rest.empty()) {
        auto [error] = co_await net::wait_writable(socket_);
        if (error || net::write_now(socket_, rest))
            co_return Sent::failed;
    }
    disarm();
    connection_leases_.sent();
    service_.context.head_out.clear();
    co_return Sent::all;
}

net::Task<Connection::Sent> Connection::flush() {
    const Sent sent = send_now();
    if (sent != Sent::part)
        co_return sent;
    const Sent rest = co_await send_rest();
    co_return rest;
}

// Lingers before it closes: a reset at once could destroy the reply on its way.
net::Task<> Connection::close_gently() {
    ErrorCode ignored;
    socket_.shutdown(net::Socket::shutdown_send, ignored);
    if (!connection_leases_.any()) // else its leases would end with it
        service_.context.lingering.push_back(*this);
    net::Linger linger{net::read_coarse_clock()};
    for (auto next = net::Linger::Next::read; next != net::Linger::Next::close;) {
        if (next == net::Linger::Next::pause) {
            arm(Phase::pause);
            co_await watched_.wait();
        }
        arm(Phase::linger);
        auto [error, size] =
            co_await net::read_some(socket_, {buffer_.data(), buffer_.size()}, read_memory_);
        if (error)
            break;
        const bool ending = service_.context.draining;
        next = linger.take(
            size, net::read_coarse_clock(), ending ? net::Linger::brief : net::Linger::longest);
    }
    Sheddable::unlink();
}

// Closes the connection to make room. Requires: it is parked, or lingers. Never loses a reply that
// waits or is being sent.
void Connection::shed() noexcept {
    Sheddable::unlink();
    net::close(socket_);
}

void Connection::arm(Phase phase) {
    phase_ = phase;
    if (phase == Phase::waiting)
        return disarm(); // its own end comes in time
    const auto& timeouts = service_.context.active->snapshot->timeouts;
    const Duration silence = service_.context.draining ? net::Linger::brief : net::Linger::silence;
    const Duration length = phase == Phase::idle        ? std::min(park_after, timeouts.idle)
                            : phase == Phase::parked    ? timeouts.idle - park_after
                            : phase == Phase::linger    ? silence
                            : phase == Phase::pause     ? net::Linger::interval
                            : phase == Phase::streaming ? between_events
                                                        : timeouts.head;
    service_.context.deadlines.arm(*this, length, net::read_coarse_clock());
}

// Handles a request that did not come, or a reply that was not read, in time. A caller may be
// silent for as long as it holds a lease that ends with the connection.
void Connection::on_deadline() noexcept {
    if (phase_ == Phase::streaming)
        return cancel(socket_);
    if (phase_ == Phase::pause)
        return watched_.signal();
    if ((phase_ == Phase::idle || phase_ == Phase::parked) && connection_leases_.any())
        return arm(Phase::idle);
    if (phase_ == Phase::idle && service_.context.active->snapshot->timeouts.idle > park_after) {
        service_.context.parked.push_back(*this);
        return arm(Phase::parked);
    }
    timed_out_ = phase_ == Phase::request && reading_ && begin_ < end_;
    if (timed_out_)
        cancel(socket_);
    else
        net::close(socket_);
}

// Cancels the read instead of closing: a request may have been read already, and its handler be
// about to run.
void Connection::drain() noexcept {
    if ((reading_ && begin_ == end_) || streaming_)
        cancel(socket_);
}

void Connection::abort() noexcept {
    connection_leases_.detach();
    leave();
    net::close(socket_);
    if (phase_ == Phase::pause && armed()) {
        disarm();
        watched_.signal();
    }
}

} // namespace stint::permits
