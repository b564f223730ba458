// Input of a connection: from bytes to requests.
#include "http/head_parser.hpp"
#include "http/local_reply.hpp"
#include "http/response_writer.hpp"
#include "net/clock.hpp"
#include "permits/connection.hpp"

#include <algorithm>

namespace stint::permits {
namespace {

// Bytes that are read ahead: a request's head, and what was sent behind it.
constexpr std::size_t largest_buffer = 2 * Connection::max_head;

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

} // namespace

// Handles the next request that has come in, if it is complete.
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
    keep_alive_ = request->keep_alive;
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

// Reads the body. The head stays at begin_ until the body is complete: what follows it moves up.
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
        if (!more && timed_out_)
            co_return reject(408, "the request did not arrive in time");
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
    keep_alive_ = keep_alive_ && !service_.context.draining;
    pending_ = answer(
        service_, head, body, peer_, connection_leases_, keep_alive_, service_.context.response);
    if (!pending_)
        write_response();
    served_ = true;
    begin_ += consumed;
    scanned_ = 0;
    empty_line_passed_ = false;
    return pending_ ? Step::wait : Step::done;
}

// Answers with an error. Nothing after the request can be understood either.
Connection::Step Connection::reject(int status, std::string_view detail) {
    http::make_problem(service_.context.response, {}, status, detail);
    head_request_ = false;
    keep_alive_ = false;
    minor_ = 1;
    write_response();
    return Step::refuse;
}

// Appends the worker's response to what is to be sent.
void Connection::write_response() {
    proxy::Context& context = service_.context;
    http::write_response(
        context.head_out, context.response,
        {.date = context.dates.format(net::read_clocks().wall),
         .head_request = head_request_,
         .keep_alive = keep_alive_,
         .client_minor = minor_});
}

// Returns the buffer's free part. The buffer has room for the longest head and as much behind it.
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

// Arms the deadline: a request has to come whole in its time, however many pieces it comes in.
void Connection::begin_reading() {
    timed_out_ = false;
    if (begin_ == end_ && served_) {
        arm(Phase::idle);
        forget_large();
    } else if (phase_ != Phase::request || !armed()) {
        arm(Phase::request);
    }
    reading_ = true;
}

// Returns false if no more input comes, or is waited for.
bool Connection::end_reading(const ErrorCode& error, std::size_t size) {
    reading_ = false;
    Sheddable::unlink();
    service_.context.head_out.clear();
    end_ += size;
    if (!socket_.is_open())
        return false;
    // A request that was sent before a drain began is answered.
    return !error || (!timed_out_ && take_arrived());
}

// Reads what has arrived, without waiting; returns false if nothing had.
bool Connection::take_arrived() {
    const std::size_t size = net::read_now(socket_, room()).size;
    end_ += size;
    return size > 0;
}

// Frees the memory that a large request or reply has needed, while the connection is idle.
void Connection::forget_large() {
    if (buffer_.size() > first_buffer)
        buffer_ = std::vector<char>(first_buffer);
    if (body_.capacity() > first_buffer)
        body_ = {};
    if (pending_response_.capacity() > first_buffer)
        pending_response_ = {};
}

net::Task<bool> Connection::read_more() {
    begin_reading();
    auto [error, size] = co_await net::read_some(socket_, room(), read_memory_);
    co_return end_reading(error, size);
}

} // namespace stint::permits
