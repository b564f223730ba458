// Input of a downstream connection: read when it is waited for, and no further than there is room.
#include "http/head_parser.hpp"
#include "http/request_line.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace stint::proxy {

bool Downstream::head_complete() noexcept {
    // At most one empty line before a request line is skipped (RFC 9112 section 2.2).
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

// Sees to it that a read is pending. False: waiting for more input makes no sense.
bool Downstream::read_on() {
    if (input_error_ || timed_out_)
        return false;
    if (end_ > begin_ && head_too_slow())
        return false;
    if (phase_ != Phase::head && end_ > begin_)
        arm(Phase::head, context_.active->snapshot->timeouts.head);
    if (reading_)
        return true;
    if (begin_ > 0 && begin_ == end_)
        begin_ = end_ = scanned_ = 0;
    else if (begin_ > 0 && room() == 0)
        compact();
    if (block_ && (room() == 0 || end_ - begin_ >= max_head() || is_target_too_long()))
        return false;
    return begin_reading();
}

// True if a partial head is too slow. Checks the average when more comes; a timeout catches
// silence.
bool Downstream::head_too_slow() noexcept {
    const SteadyTime now = net::read_coarse_clock();
    if (head_begun_ == SteadyTime{})
        head_begun_ = now;
    const MinRate& least = context_.active->snapshot->min_head_rate;
    if (!least.missed_by(end_ - begin_, now - head_begun_))
        return false;
    ++context_.counters.slow_heads;
    return timed_out_ = true;
}

// True if the target of the head at begin_ is too long, as far as it has come.
bool Downstream::is_target_too_long() const noexcept {
    return http::target_too_long(
        {block_.data() + begin_, end_ - begin_}, context_.active->snapshot->max_target);
}

std::size_t Downstream::max_head() const noexcept {
    return context_.active->snapshot->max_head;
}

// Starts a read. False, with input_error_ set, where memory has run out: the connection ends.
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
    net::read_some_then(
        stream_, {block_.data() + end_, room()}, read_memory_,
        [this](const ErrorCode& error, std::size_t size) { on_read(error, size); });
    return true;
}

void Downstream::cancel_reading() noexcept {
    net::cancel(stream_);
}

void Downstream::on_read(const ErrorCode& error, std::size_t size) {
    reading_ = false;
    --pending_;
    const bool parking = std::exchange(parking_, false);
    if (std::exchange(draining_, false) && nothing_came(error))
        net::close(stream_);
    if (parking && error == net::asio::error::operation_aborted && stream_.socket().is_open() &&
        !net::has_buffered(stream_)) {
        block_.release();
        if (net::TlsSession* tls = stream_.tls())
            tls->release_memory();
        begin_ = end_ = scanned_ = 0;
        reading_ = true;
        ++pending_;
        context_.parked.push_back(*this);
        const auto readable = [this](const ErrorCode& failed) { on_parked_readable(failed); };
        return stream_.socket().async_wait(
            net::Socket::wait_read, net::in_place(read_memory_, readable));
    }
    if (error)
        return on_input_ended(error);
    end_ += size;
    if (input_.has_waiter())
        return wake();
    watch(); // pipelined while a request is under way
}

void Downstream::on_input_ended(const ErrorCode& error) {
    const bool only_cancelled =
        error == net::asio::error::operation_aborted && stream_.socket().is_open();
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

// Resumes the coroutine, which may end, and this object with it: nothing may be touched afterwards.
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
    if (Watched::is_linked())
        return;
    looks_ = 0;
    context_.watched.push_back(*this);
}

// Stops polling a connection that stalls: from the second tick on the kernel reports its close.
void Downstream::guard() noexcept {
    constexpr std::uint8_t enough = 2;
    if (looks_ == enough || ++looks_ < enough)
        return;
    if (context_.ends.watch(stream_.socket().native_handle(), this, !options_.half_close_allowed)) {
        Watched::unlink();
        context_.guarded.push_back(*this);
    } else {
        looks_ = 0;
    }
}

net::Task<> Downstream::hand_over() {
    handed_over_ = true;
    Watched::unlink();
    while (reading_) {
        cancel_reading();
        co_await input_.wait();
    }
}

void Downstream::poll_peer_close() {
    if (handed_over_) [[unlikely]]
        return exchange_->look_at_tunnel();
    if (exchange_ == nullptr)
        return;
    if (!net::peer_closed(stream_, !options_.half_close_allowed)) {
        if (Watched::is_linked()) // not after a wait, while a read is pending
            guard();
        return;
    }
    Watched::unlink();
    if (!input_error_)
        input_error_ = net::asio::error::connection_reset;
    exchange_->on_client_gone();
}

void Downstream::park() noexcept {
    if (!reading_ || end_ > begin_)
        return;
    parking_ = true;
    cancel_reading();
}

void Downstream::on_parked_readable(const ErrorCode& error) {
    Sheddable::unlink();
    reading_ = false;
    --pending_;
    const bool draining = std::exchange(draining_, false);
    if (draining && nothing_came(error))
        net::close(stream_);
    if (error && !(draining && stream_.socket().is_open()))
        return on_input_ended(error);
    if (!begin_reading())
        wake();
}

// True if a cancelled read, or wait for one, brought nothing, and nothing has arrived since.
bool Downstream::nothing_came(const ErrorCode& error) noexcept {
    return error == net::asio::error::operation_aborted && stream_.socket().is_open() &&
           net::probe(stream_) == net::SocketState::silent && !net::has_buffered(stream_);
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

} // namespace stint::proxy
