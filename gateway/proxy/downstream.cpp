#include "proxy/downstream.hpp"

#include "http/proxy_protocol.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace stint::proxy {
namespace {

using namespace std::chrono_literals;

// An idle connection keeps its buffer this long: a busy client's next request is there before.
constexpr Duration park_after = 1s;

// How long and how much a client that was refused may go on sending before it is cut off. Closing
// at once would reset the connection and could destroy the answer on its way.
constexpr Duration linger_time = 1s;
constexpr std::size_t linger_bytes = 64 * 1024;

} // namespace

Downstream::Downstream(
    Context& context, net::Socket socket, const net::Endpoint& peer, ListenerOptions options)
    : context_{context}, socket_{std::move(socket)},
      peer_{IpAddress::from_bytes(net::PeerAddress{peer}.bytes()), context.shared.hasher},
      options_{options} {
    context_.connections.push_back(*this);
    context_.shared.connections.fetch_add(1, std::memory_order_relaxed);
    ++context_.counters.connections_open;
}

Downstream::~Downstream() {
    context_.shared.connections.fetch_sub(1, std::memory_order_relaxed);
    --context_.counters.connections_open;
}

net::Task<> Downstream::serve(std::unique_ptr<Downstream> self) {
    Downstream& down = *self;
    ObjectPool<Exchange>::Pointer exchange{nullptr, {nullptr}};
    try {
        down.arm(Phase::head, down.context_.active->snapshot->timeouts.head);
        bool keep = true;
        if (down.options_.proxy_protocol) [[unlikely]]
            keep = co_await down.receive_proxy_header();
        if (keep)
            co_await down.serve_requests(exchange);
        if (down.linger_ && !down.input_error_)
            co_await down.close_gently();
    } catch (const std::exception& failure) {
        spdlog::error("a connection failed inside the gateway: {}", failure.what());
        if (exchange)
            exchange->on_client_gone();
    }
    while (exchange && exchange->pumping())
        co_await exchange->pump_stopped();
    down.exchange_ = nullptr;
    exchange.reset();
    down.disarm();
    net::close(down.socket_);
    while (down.pending_ > 0)
        co_await down.input_.wait();
}

// `exchange` is the request's under way, also when this ends with an exception.
net::Task<> Downstream::serve_requests(ObjectPool<Exchange>::Pointer& exchange) {
    for (bool keep = true; keep;) {
        while (!head_complete() && read_on())
            co_await input_.wait();
        // Begun while this request was pipelined; it would take a part of the request's body.
        while (reading_) {
            cancel_reading();
            co_await input_.wait();
        }
        if (!may_answer())
            co_return;
        exchange = begin_exchange();
        Exchange::Result result;
        if (head_size_ == 0 || head_size_ > max_head()) {
            result = co_await reject_head(*exchange);
        } else {
            auto step = exchange->begin({block_.data() + begin_, head_size_});
            while (step == Exchange::Step::answer) {
                auto [error, size] = co_await exchange->read_answer();
                step = exchange->take_answer(error, size);
            }
            if (step == Exchange::Step::over)
                result = exchange->finish();
            else
                result = co_await exchange->rest();
        }
        keep = end_exchange(result);
        exchange.reset();
    }
}

// False: the connection is not to be served. Within the time for the first head.
net::Task<bool> Downstream::receive_proxy_header() {
    using Status = http::ProxyHeader::Status;
    if (!context_.active->snapshot->trusted.contains(peer_.address())) {
        ++context_.counters.proxy_untrusted;
        co_return false;
    }
    http::ProxyHeader header;
    while (header.status == Status::incomplete && read_on()) {
        co_await input_.wait();
        header = http::parse_proxy_header({block_.data() + begin_, end_ - begin_});
    }
    const bool ended = input_error_ || timed_out_;
    if (header.status == Status::malformed || (header.status == Status::incomplete && !ended)) {
        ++context_.counters.proxy_malformed;
        co_return false;
    }
    if (header.status == Status::incomplete)
        co_return false;
    if (header.status == Status::address)
        peer_ = routing::ClientAddress{header.source, context_.shared.hasher};
    begin_ += header.size;
    scanned_ = begin_;
    co_return true;
}

// Something has come in, and somebody may be there to read an answer.
bool Downstream::may_answer() const noexcept {
    const bool anything = head_size_ > 0 || end_ > begin_;
    const bool listening =
        !input_error_ || (options_.half_close_allowed && input_error_ == net::asio::error::eof);
    return anything && listening;
}

ObjectPool<Exchange>::Pointer Downstream::begin_exchange() {
    disarm();
    phase_ = Phase::exchange;
    if (begin_ > block_.size() / 2)
        compact();
    ObjectPool<Exchange>::Pointer exchange = context_.exchanges.make(context_, *this);
    exchange_ = exchange.get();
    return exchange;
}

net::Task<Exchange::Result> Downstream::reject_head(Exchange& exchange) {
    if (timed_out_)
        return exchange.reject(408, "the request's head did not arrive in time");
    if (input_error_)
        return exchange.reject(400, "the request's head was cut short");
    return exchange.reject(431, "the request's head is larger than max_head");
}

// Whether the connection goes on.
bool Downstream::end_exchange(const Exchange::Result& result) {
    exchange_ = nullptr;
    Watched::unlink();
    empty_line_passed_ = false;
    linger_ = result.linger;
    begin_ += result.consumed;
    scanned_ = begin_;
    head_size_ = 0;
    if (result.keep)
        await_next_head();
    return result.keep;
}

void Downstream::await_next_head() {
    if (begin_ == end_ && !reading_) {
        begin_ = end_ = scanned_ = 0;
        if (block_.size() != context_.head_blocks().block_size())
            block_.release(); // max_head was changed
    }
    const auto& timeouts = context_.active->snapshot->timeouts;
    if (begin_ == end_)
        arm(Phase::idle, std::min(park_after, timeouts.idle));
    else
        arm(Phase::head, timeouts.head);
}

bool Downstream::head_complete() noexcept {
    // At most one empty line before a request line is let pass (RFC 9112 section 2.2).
    if (!empty_line_passed_ && end_ - begin_ >= 2 && scanned_ - begin_ <= 1 &&
        std::memcmp(block_.data() + begin_, "\r\n", 2) == 0) {
        begin_ += 2;
        scanned_ = begin_;
        empty_line_passed_ = true;
    }
    std::size_t scanned = scanned_ - begin_;
    head_size_ = http::find_head_end({block_.data() + begin_, end_ - begin_}, scanned);
    scanned_ = begin_ + scanned;
    return head_size_ > 0;
}

// Whether waiting for input makes sense; sees to it that a read is pending then.
bool Downstream::read_on() {
    if (input_error_ || timed_out_)
        return false;
    if (phase_ != Phase::head && end_ > begin_)
        arm(Phase::head, context_.active->snapshot->timeouts.head);
    if (reading_)
        return true;
    if (begin_ > 0 && begin_ == end_)
        begin_ = end_ = scanned_ = 0;
    else if (begin_ > 0 && room() == 0)
        compact();
    if (block_ && (room() == 0 || end_ - begin_ >= max_head()))
        return false;
    return begin_reading();
}

std::size_t Downstream::max_head() const noexcept {
    return context_.active->snapshot->max_head;
}

// False, with input_error_ set, where memory has run out: the connection ends.
bool Downstream::begin_reading() noexcept {
    try {
        if (!block_)
            block_ = context_.head_blocks().borrow();
    } catch (const std::bad_alloc&) {
        input_error_ = net::asio::error::no_memory;
        return false;
    }
    reading_ = true;
    ++pending_;
    socket_.async_read_some(
        net::asio::buffer(block_.data() + end_, room()),
        net::in_place(read_memory_, [this](const ErrorCode& error, std::size_t size) {
            on_read(error, size);
        }));
    return true;
}

void Downstream::cancel_reading() noexcept {
    ErrorCode ignored;
    socket_.cancel(ignored);
}

void Downstream::on_read(const ErrorCode& error, std::size_t size) {
    reading_ = false;
    --pending_;
    if (std::exchange(parking_, false) && error == net::asio::error::operation_aborted &&
        socket_.is_open()) {
        block_.release();
        begin_ = end_ = scanned_ = 0;
        reading_ = true;
        ++pending_;
        socket_.async_wait(net::Socket::wait_read, [this](const ErrorCode& failed) {
            on_parked_readable(failed);
        });
        return;
    }
    if (error)
        return on_input_ended(error);
    end_ += size;
    if (input_.has_waiter())
        return wake();
    watch(); // pipelined while a request is under way
}

void Downstream::on_input_ended(const ErrorCode& error) {
    const bool only_cancelled = error == net::asio::error::operation_aborted && socket_.is_open();
    if (only_cancelled)
        return wake();
    input_error_ = error;
    if (exchange_ == nullptr || input_.has_waiter())
        return wake();
    const bool may_still_listen = error == net::asio::error::eof && options_.half_close_allowed;
    if (may_still_listen)
        watch_from_afar();
    else
        exchange_->on_client_gone();
}

// The coroutine may end and this object with it: nothing may be touched after it.
void Downstream::wake() {
    input_.signal();
}

void Downstream::watch() {
    if (reading_ || input_error_)
        return;
    if (room() == 0 || !begin_reading())
        watch_from_afar();
    else
        Watched::unlink();
}

void Downstream::watch_from_afar() {
    if (!Watched::is_linked())
        context_.watched.push_back(*this);
}

void Downstream::look_for_end() {
    if (exchange_ == nullptr || !net::has_ended(socket_, !options_.half_close_allowed))
        return;
    Watched::unlink();
    if (!input_error_)
        input_error_ = net::asio::error::connection_reset;
    exchange_->on_client_gone();
}

void Downstream::park() noexcept {
    if (!reading_ || end_ > begin_)
        return;
    parking_ = true;
    ErrorCode ignored;
    socket_.cancel(ignored);
}

void Downstream::on_parked_readable(const ErrorCode& error) {
    reading_ = false;
    --pending_;
    if (error)
        return on_input_ended(error);
    if (!begin_reading())
        wake();
}

void Downstream::keep_surplus(std::span<const char> bytes) noexcept {
    std::memcpy(block_.data() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void Downstream::compact() noexcept {
    assert(!reading_ && exchange_ == nullptr);
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
}

void Downstream::arm(Phase phase, Duration length) {
    phase_ = phase;
    context_.deadlines.arm(*this, length, net::read_coarse_clock());
}

void Downstream::arm_body_deadline(Duration length) {
    arm(Phase::exchange, length);
}

void Downstream::on_deadline() noexcept {
    const auto& timeouts = context_.active->snapshot->timeouts;
    switch (phase_) {
    case Phase::idle:
        if (timeouts.idle > park_after) {
            park();
            return arm(Phase::parked, timeouts.idle - park_after);
        }
        [[fallthrough]];
    case Phase::parked:
    case Phase::linger:
        return net::close(socket_);
    case Phase::exchange:
        return exchange_->on_client_stalled();
    case Phase::head:
        timed_out_ = true;
        ErrorCode ignored;
        socket_.cancel(ignored);
    }
}

void Downstream::drain() noexcept {
    if (exchange_ == nullptr && begin_ == end_)
        net::close(socket_);
}

void Downstream::abort() noexcept {
    if (exchange_ != nullptr)
        exchange_->on_client_gone();
    net::close(socket_);
}

net::Task<> Downstream::close_gently() {
    ErrorCode ignored;
    socket_.shutdown(net::Socket::shutdown_send, ignored);
    arm(Phase::linger, linger_time);
    std::size_t discarded = 0;
    while (!input_error_ && discarded < linger_bytes) {
        if (!reading_) {
            discarded += end_ - begin_;
            begin_ = end_ = scanned_ = 0;
            if (!begin_reading())
                break;
        }
        co_await input_.wait();
    }
    disarm();
}

} // namespace stint::proxy
