#include "proxy/downstream/downstream.hpp"

#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "net/linger.hpp"
#include "proxy/exchange.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::proxy {

Downstream::Downstream(
    Context& context,
    ConnectionSlot slot,
    net::Socket socket,
    const net::Endpoint& peer,
    ListenerOptions options)
    : context_{context}, slot_{std::move(slot)}, stream_{std::move(socket)},
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
        if (keep && !down.acquire_client_slot()) [[unlikely]] {
            down.turn_away();
            keep = false;
        }
        if (keep && down.options_.tls) [[unlikely]]
            keep = co_await down.shake_hands();
        if (keep)
            co_await down.serve_requests(exchange);
        if (down.lingers_ != Lingers::no && !down.input_error_)
            co_await down.close_gently();
    } catch (const std::exception& failure) {
        if (down.context_.shared.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a connection failed inside the gateway: {}", failure.what());
        if (exchange)
            exchange->on_client_gone();
    }
    while (exchange && exchange->pumping())
        co_await exchange->pump_stopped();
    down.exchange_ = nullptr;
    exchange.reset();
    down.disarm();
    net::close(down.stream_);
    while (down.pending_ > 0)
        co_await down.input_.wait();
}

// Serves requests. `exchange`: that of the one under way, also when this ends with an exception.
net::Task<> Downstream::serve_requests(ObjectPool<Exchange>::Pointer& exchange) {
    for (bool keep = true; keep;) {
        while (!head_complete() && read_on())
            co_await input_.wait();
        // Begun while this request was pipelined; this read would take a part of the request's
        // body.
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

// True if anything has come in, and the client may still read an answer.
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
    const std::string_view head{block_.data() + begin_, std::min(end_ - begin_, max_head())};
    if (is_target_too_long() || head.find('\n') == std::string_view::npos)
        return exchange.reject(414, "the request's target is longer than max_target");
    return exchange.reject(431, "the request's head is larger than max_head");
}

// Ends the exchange. True: the connection is kept alive.
bool Downstream::end_exchange(const Exchange::Result& result) {
    exchange_ = nullptr;
    Watched::unlink();
    empty_line_passed_ = false;
    lingers_ = result.linger ? Lingers::yes : Lingers::no;
    begin_ += result.consumed;
    scanned_ = begin_;
    head_size_ = 0;
    head_begun_ = {};
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
        return net::close(stream_);
    case Phase::exchange:
        return exchange_->on_client_stalled();
    case Phase::pause:
        return wake();
    case Phase::head:
        timed_out_ = true;
        net::cancel(stream_);
    }
}

// Does not close at once: a request may have been read already, and its handler be about to run.
void Downstream::drain() noexcept {
    if (exchange_ != nullptr || end_ > begin_ || !reading_ || phase_ == Phase::linger)
        return;
    draining_ = true;
    cancel_reading();
}

void Downstream::shed() noexcept {
    Sheddable::unlink();
    net::close(stream_);
}

void Downstream::abort() noexcept {
    if (exchange_ != nullptr)
        exchange_->on_client_gone();
    net::close(stream_);
    if (phase_ == Phase::pause && armed()) {
        disarm();
        wake();
    }
}

net::Task<> Downstream::close_gently() {
    using Next = net::Linger::Next;
    const bool briefly = lingers_ == Lingers::briefly;
    net::shutdown_send(stream_);
    context_.lingering.push_back(*this);
    net::Linger linger{net::read_coarse_clock()};
    for (Next next = Next::read; next != Next::close && !input_error_;) {
        if (next == Next::pause) {
            arm(Phase::pause, net::Linger::interval);
            co_await input_.wait();
        }
        const bool hurries = briefly || context_.draining;
        arm(Phase::linger, hurries ? net::Linger::brief : net::Linger::silence);
        if (!reading_) {
            begin_ = end_ = scanned_ = 0;
            if (!begin_reading())
                break;
        }
        co_await input_.wait();
        const Duration most =
            briefly || context_.draining ? net::Linger::brief : net::Linger::longest;
        next = linger.take(end_ - begin_, net::read_coarse_clock(), most);
    }
    Sheddable::unlink();
    disarm();
}

} // namespace stint::proxy
