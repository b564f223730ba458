#include "admin/connection.hpp"

#include "http/body_decoder.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "net/linger.hpp"

#include <boost/asio/steady_timer.hpp>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace stint::admin {
namespace {

using Timer = net::asio::basic_waitable_timer<
    std::chrono::steady_clock,
    net::asio::wait_traits<std::chrono::steady_clock>,
    net::Executor>;

constexpr auto server_side = net::asio::ssl::stream_base::server;

constexpr std::string_view too_large = "The request's body is larger than 64 KiB.";
constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

Response refusal(int status, std::string_view detail) {
    Response response = problem(status, detail);
    if (status == 405)
        response.fields.emplace_back("Allow", "GET, HEAD, POST, PUT, DELETE");
    return response;
}

} // namespace

Connection::Connection(std::shared_ptr<Shared> shared, net::Socket socket, tls::SslPtr ssl)
    : shared_{std::move(shared)}, socket_{std::move(socket)} {
    if (ssl)
        tls_.emplace(socket_, ssl.release());
}

net::Task<> Connection::serve(std::unique_ptr<Connection> self) {
    try {
        co_await self->serve_all();
    } catch (const std::exception& failure) {
        spdlog::error("a connection to the admin listener failed: {}", failure.what());
    }
    self->close();
}

void Connection::close() noexcept {
    net::close(socket_);
}

void Connection::begin() {
    shared_->connections.begin(*this, net::read_steady_clock());
}

net::Task<> Connection::serve_all() {
    bool goes_on = co_await shake_hands();
    if (!goes_on)
        co_return;
    while (goes_on)
        goes_on = co_await serve_one();
    if (!tls_ || !socket_.is_open())
        co_return;
    begin();
    co_await tls_->async_shutdown(net::as_result);
}

// Does the TLS handshake; returns whether the connection goes on. A client that speaks plain HTTP
// to a TLS port gets one 400.
net::Task<bool> Connection::shake_hands() {
    if (!tls_)
        co_return true;
    begin();
    auto [closed] = co_await net::wait_readable(socket_);
    if (closed)
        co_return false;
    ErrorCode error;
    char first = 0;
    socket_.receive(net::asio::buffer(&first, 1), net::Socket::message_peek, error);
    if (error)
        co_return false;
    if (tls::begins_plain_http(first)) {
        tls_.reset();
        co_return co_await refuse(400, "This port speaks TLS: ask it with https://.");
    }
    auto [failed] = co_await tls_->async_handshake(server_side, net::as_result);
    if (failed)
        spdlog::info("a TLS handshake of the admin listener failed: {}", failed.message());
    co_return !failed;
}

// Serves one request; returns whether the connection goes on.
net::Task<bool> Connection::serve_one() {
    begin();
    const std::size_t size = co_await read_head();
    if (size == 0 && input_.size() < max_head)
        co_return false;
    if (size == 0 || size > max_head)
        co_return co_await refuse(431, "The request's head is larger than 16 KiB.");
    const auto head = shared_->parser.parse_request({input_.data(), size});
    if (!head)
        co_return co_await refuse(head.error().status, head.error().detail);
    Request request = request_of(*head);
    const BodyFraming framing = head->framing;
    const bool waits = head->expects_continue && framing.has_body() && input_.size() == size;
    input_.erase(0, size);
    if (framing.length > max_body)
        co_return co_await refuse(413, too_large);
    if (waits)
        co_await write(go_on, {});
    const Result<void, http::HeadError> body = co_await read_body(framing, request.body);
    if (!body)
        co_return co_await refuse(body.error().status, body.error().detail);
    const bool head_only = request.method == "HEAD";
    const bool keep_alive = request.keep_alive;
    begin();
    Response response = co_await answer_safely(std::move(request));
    co_return co_await send(std::move(response), head_only, keep_alive);
}

// The length of the head that the input begins with, or 0 if none came.
net::Task<std::size_t> Connection::read_head() {
    bool may_skip_line = true; // one before a request line (RFC 9112 section 2.2)
    std::size_t scanned = 0;
    for (;;) {
        if (may_skip_line && input_.starts_with("\r\n")) {
            input_.erase(0, 2);
            may_skip_line = false;
            scanned = 0;
        }
        const std::size_t size = http::find_head_end(input_, scanned);
        if (size > 0 || input_.size() >= max_head)
            co_return size;
        const bool more = co_await read_more();
        if (!more)
            co_return 0;
    }
}

// Appends the payload to `body`.
net::Task<Result<void, http::HeadError>>
Connection::read_body(BodyFraming framing, std::string& body) {
    http::BodyDecoder decoder{framing};
    for (;;) {
        const auto step = decoder.decode({input_.data(), input_.size()});
        if (!step)
            co_return step.error();
        body.append(input_, 0, step->payload); // the payload was moved to the front
        input_.erase(0, step->consumed);
        if (body.size() > max_body)
            co_return http::HeadError{413, too_large};
        if (decoder.done())
            co_return Result<void, http::HeadError>{};
        const bool more = co_await read_more();
        if (!more)
            co_return http::HeadError{400, "The request's body broke off."};
    }
}

net::Task<bool> Connection::read_more() {
    if (tls_) {
        auto [failed, got] =
            co_await tls_->async_read_some(net::asio::buffer(chunk_), net::as_result);
        input_.append(chunk_.data(), got);
        co_return !failed;
    }
    auto [error, size] = co_await net::read_some(socket_, chunk_);
    if (error)
        co_return false;
    input_.append(chunk_.data(), size);
    co_return true;
}

// Answers 500 on an exception, such as out of memory: only this request fails.
net::Task<Response> Connection::answer_safely(Request request) {
    try {
        co_return co_await answer(shared_->service, std::move(request));
    } catch (const std::exception& failure) {
        spdlog::error("a request to the admin listener failed: {}", failure.what());
    }
    co_return problem(500, "The request failed inside the gateway; its log says why.");
}

// Sends the response; returns whether the connection goes on.
net::Task<bool> Connection::send(Response response, bool head_only, bool keep_alive) {
    std::string head =
        head_of(response, shared_->dates.format(net::read_clocks().wall), keep_alive);
    if (head_only)
        response.body.clear();
    const bool sent = co_await write(head, response.body);
    co_return sent&& keep_alive;
}

net::Task<bool> Connection::write(std::string_view head, std::string_view body) {
    if (tls_)
        co_return co_await write_sealed(head, body);
    net::Gather gather;
    gather.add(head);
    gather.add(body);
    co_return co_await write_plain(gather);
}

net::Task<bool> Connection::write_sealed(std::string_view head, std::string_view body) {
    const std::array pieces{
        net::asio::buffer(head.data(), head.size()), net::asio::buffer(body.data(), body.size())};
    auto [error, size] = co_await net::asio::async_write(*tls_, pieces, net::as_result);
    co_return !error;
}

net::Task<bool> Connection::write_plain(net::Gather gather) {
    for (;;) {
        if (net::write_now(socket_, gather))
            co_return false;
        if (gather.empty())
            co_return true;
        auto [error] = co_await net::wait_writable(socket_);
        if (error)
            co_return false;
    }
}

// Refuses a request whose end cannot be found, so nothing after it can be read either. Always
// false.
net::Task<bool> Connection::refuse(int status, std::string_view detail) {
    if (!socket_.is_open())
        co_return false;
    begin();
    Response response = refusal(status, detail);
    co_await send(std::move(response), false, false);
    ErrorCode ignored;
    if (!tls_) // TLS sends its own end (close_notify), once the client has gone on to close
        socket_.shutdown(net::Socket::shutdown_send, ignored);
    co_await linger();
    co_return false;
}

// Discards input until the client closes or net::Linger ends. Connections closes a silent client.
net::Task<> Connection::linger() {
    using Next = net::Linger::Next;
    net::Linger linger{net::read_steady_clock()};
    Timer pause{socket_.get_executor()};
    for (Next next = Next::read; next != Next::close;) {
        if (next == Next::pause) {
            pause.expires_after(net::Linger::interval);
            co_await pause.async_wait(net::as_result);
        }
        input_.clear();
        const bool more = co_await read_more();
        if (!more)
            break;
        next = linger.take(input_.size(), net::read_steady_clock());
    }
}

} // namespace stint::admin
