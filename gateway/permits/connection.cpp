#include "permits/connection.hpp"

#include "http/head_parser.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace stint::permits {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t first_buffer = 4 * 1024;
// So much is read ahead: a request's head, and what was sent behind it.
constexpr std::size_t largest_buffer = 2 * Connection::max_head;
// Answers to requests that were sent together go out together, up to here.
constexpr std::size_t flush_from = 32 * 1024;

// Callers keep their connections; each costs little while it is idle.
constexpr Duration idle_time = 10min;
constexpr Duration linger_time = 1s;
constexpr std::size_t linger_bytes = 256 * 1024;

void cancel(net::Socket& socket) noexcept {
    ErrorCode ignored;
    socket.cancel(ignored);
}

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

} // namespace

Connection::Connection(Service& service, net::Socket socket, const net::Endpoint& peer)
    : service_{service}, socket_{std::move(socket)},
      peer_{IpAddress::from_bytes(net::PeerAddress{peer}.bytes()), service.context.shared.hasher},
      buffer_(first_buffer) {
    service_.context.shared.connections.fetch_add(1, std::memory_order_relaxed);
    ++service_.context.counters.permit_connections;
}

Connection::~Connection() {
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
    connection.taking_.reset();
    connection.disarm();
    net::close(connection.socket_);
    while (connection.watching_)
        co_await connection.watched_.wait();
}

net::Task<> Connection::serve_all() {
    arm(Phase::request);
    http::HeadBuffer& out = service_.context.head_out;
    out.clear();
    for (;;) {
        Step step = take_request();
        if (step == Step::body) {
            const bool sent = co_await flush();
            if (!sent)
                co_return;
            const Step read = co_await read_body();
            step = read;
        }
        if (step == Step::wait) {
            const bool sent = co_await flush();
            if (!sent)
                co_return;
            co_await wait_for_turn();
            if (gone_)
                co_return;
            step = Step::done;
        }
        if (step == Step::done && keep_ && begin_ < end_ && out.view().size() < flush_from)
            continue;
        const bool sent = co_await flush();
        if (!sent)
            co_return;
        if (step == Step::refuse || (step == Step::done && !keep_))
            co_return co_await close_gently();
        if (step == Step::done && begin_ < end_)
            continue;
        if (begin_ == end_ && service_.context.draining)
            co_return;
        const bool more = co_await read_more();
        if (!more && !timed_out_)
            co_return;
        if (timed_out_) {
            (void)reject(408, "the request did not arrive in time");
            co_await flush();
            co_return;
        }
    }
}

// The next request that has come in, if it is complete.
Connection::Step Connection::take_request() {
    if (!empty_line_passed_ && end_ - begin_ >= 2 && buffer_[begin_] == '\r' &&
        buffer_[begin_ + 1] == '\n') { // one before a request line (RFC 9112 section 2.2)
        begin_ += 2;
        empty_line_passed_ = true;
        scanned_ = 0;
    }
    const std::string_view received{buffer_.data() + begin_, end_ - begin_};
    head_size_ = http::find_head_end(received, scanned_);
    if (head_size_ == 0 && received.size() < max_head)
        return Step::more;
    if (head_size_ == 0 || head_size_ > max_head)
        return reject(431, "the request's head is larger than 16 KiB");
    return take_head(received.substr(0, head_size_));
}

Connection::Step Connection::take_head(std::string_view head) {
    const auto request = service_.context.parser.parse_request(head);
    if (!request)
        return reject(request.error().status, request.error().detail);
    const BodyFraming framing = request->framing;
    head_request_ = request->method == "HEAD";
    minor_ = static_cast<std::uint8_t>(request->minor_version);
    keep_ = request->keep_alive;
    if (framing.length > max_body)
        return reject(413, "the request's body is larger than 64 KiB");
    const std::span<char> rest{buffer_.data() + begin_ + head_size_, end_ - begin_ - head_size_};
    if (framing.kind != BodyFraming::Kind::chunked && framing.length <= rest.size()) [[likely]]
        return call(*request, {rest.data(), framing.length}, head_size_ + framing.length);
    decoder_ = http::BodyDecoder{framing};
    body_.clear();
    if (request->expects_continue && rest.empty())
        service_.context.head_out << go_on;
    return Step::body;
}

// The head stays at begin_ until the body is complete: what follows it moves up.
net::Task<Connection::Step> Connection::read_body() {
    for (;;) {
        const std::size_t at = begin_ + head_size_;
        const auto step = decoder_.decode({buffer_.data() + at, end_ - at});
        if (!step)
            co_return reject(step.error().status, step.error().detail);
        body_.append(buffer_.data() + at, step->payload);
        const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(at);
        std::copy(
            from + static_cast<std::ptrdiff_t>(step->consumed),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), from);
        end_ -= step->consumed;
        if (body_.size() > max_body)
            co_return reject(413, "the request's body is larger than 64 KiB");
        if (decoder_.done())
            break;
        const bool more = co_await read_more();
        if (!more)
            co_return reject(400, "the request's body broke off");
    }
    const auto request =
        service_.context.parser.parse_request({buffer_.data() + begin_, head_size_});
    co_return call(*request, body_, head_size_);
}

Connection::Step
Connection::call(const RequestHead& head, std::string_view body, std::size_t consumed) {
    disarm();
    keep_ = keep_ && !service_.context.draining;
    taking_ = answer(
        service_, head, body, peer_, service_.context.head_out,
        reply_context(head_request_, minor_));
    served_ = true;
    begin_ += consumed;
    scanned_ = 0;
    empty_line_passed_ = false;
    return taking_ ? Step::wait : Step::done;
}

// Nothing after it can be understood either.
Connection::Step Connection::reject(int status, std::string_view detail) {
    http::ReplyContext context = reply_context(false, 1);
    context.keep_alive = false;
    http::write_problem(service_.context.head_out, context, status, detail);
    return Step::refuse;
}

http::ReplyContext Connection::reply_context(bool head_request, int minor) {
    proxy::Context& context = service_.context;
    return {
        .request_id = {},
        .date = context.dates.format(net::read_clocks().wall),
        .head_request = head_request,
        .keep_alive = keep_,
        .client_minor = minor};
}

net::Task<> Connection::wait_for_turn() {
    arm(Phase::waiting);
    ++service_.context.counters.permits_waiting;
    watch();
    while (!taking_->turn().is_over)
        co_await taking_->turn().over.wait();
    --service_.context.counters.permits_waiting;
    disarm();
    if (watching_) {
        cancel(socket_);
        while (watching_)
            co_await watched_.wait();
    }
    service_.context.head_out.clear();
    if (!gone_) {
        taking_->end_wait();
        taking_->write(service_.context.head_out, reply_context(head_request_, minor_));
    }
    taking_.reset();
}

// Until something comes in; what does is kept for later.
void Connection::watch() {
    watching_ = true;
    socket_.async_wait(
        net::Socket::wait_read, [this](const ErrorCode& error) { on_readable(error); });
}

void Connection::on_readable(const ErrorCode& error) {
    watching_ = false;
    if (!error && taking_ && !taking_->turn().is_over) {
        const std::span<char> free = room();
        if (!free.empty()) { // else it is not watched any more: its answer will find it gone
            const net::Received got = net::read_now(socket_, free);
            end_ += got.size;
            if (!got.error || got.error == net::asio::error::would_block)
                return watch();
            gone_ = true;
            service_.context.turns.give_up(taking_->turn());
        }
    }
    watched_.signal();
}

// Where more can be received: as much as there may be behind the longest head.
std::span<char> Connection::room() {
    if (begin_ == end_)
        begin_ = end_ = scanned_ = 0;
    if (end_ == buffer_.size() && begin_ > 0) {
        std::copy(
            buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size() && buffer_.size() < largest_buffer)
        buffer_.resize(buffer_.size() * 2);
    return {buffer_.data() + end_, buffer_.size() - end_};
}

net::Task<bool> Connection::read_more() {
    arm(begin_ == end_ && served_ ? Phase::idle : Phase::request);
    const std::span<char> free = room();
    reading_ = true;
    auto [error, size] = co_await net::read_some(socket_, free, read_memory_);
    reading_ = false;
    end_ += size;
    service_.context.head_out.clear();
    co_return !error && socket_.is_open();
}

// Sends what has been answered. False: the caller is gone.
net::Task<bool> Connection::flush() {
    http::HeadBuffer& out = service_.context.head_out;
    net::Gather gather;
    gather.add(out.view());
    const ErrorCode failed = net::write_now(socket_, gather);
    unsent_.clear();
    gather.append_to(unsent_);
    out.clear();
    if (failed)
        co_return false;
    if (unsent_.empty()) [[likely]]
        co_return true;
    net::Gather rest;
    rest.add(unsent_);
    arm(Phase::request);
    while (!rest.empty()) {
        auto [error] = co_await net::wait_writable(socket_);
        if (error || net::write_now(socket_, rest))
            co_return false;
    }
    disarm();
    out.clear();
    co_return true;
}

// A reset at once could destroy the answer on its way.
net::Task<> Connection::close_gently() {
    ErrorCode ignored;
    socket_.shutdown(net::Socket::shutdown_send, ignored);
    arm(Phase::linger);
    std::size_t discarded = 0;
    while (discarded < linger_bytes) {
        auto [error, size] =
            co_await net::read_some(socket_, {buffer_.data(), buffer_.size()}, read_memory_);
        if (error)
            break;
        discarded += size;
    }
}

void Connection::arm(Phase phase) {
    phase_ = phase;
    if (phase == Phase::waiting)
        return disarm(); // its own end comes in time
    const Duration length = phase == Phase::idle ? idle_time
                            : phase == Phase::linger
                                ? linger_time
                                : service_.context.active->snapshot->timeouts.head;
    service_.context.deadlines.arm(*this, length, net::read_coarse_clock());
}

// A request that did not come, or an answer that was not taken, in time.
void Connection::on_deadline() noexcept {
    timed_out_ = phase_ == Phase::request && reading_ && begin_ < end_;
    if (timed_out_)
        cancel(socket_);
    else
        net::close(socket_);
}

// Not by closing at once: a request may have been read already, and its handler be about to run.
void Connection::drain() noexcept {
    if (reading_ && begin_ == end_)
        cancel(socket_);
}

void Connection::abort() noexcept {
    gone_ = true;
    if (taking_ && !taking_->turn().is_over)
        service_.context.turns.give_up(taking_->turn());
    net::close(socket_);
}

} // namespace stint::permits
