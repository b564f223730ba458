#include "admin/request_handler.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <string>
#include <utility>

namespace stint::admin {
namespace {

constexpr std::string_view too_large = "The request's body is larger than 64 KiB.";

} // namespace

server::Step RequestHandler::on_request() {
    if (stream_.head().framing.length <= max_body)
        return server::Step::rest;
    refuse(413, too_large);
    return server::Step::done;
}

server::Step RequestHandler::on_bad_request(int status, std::string_view detail) {
    refuse(status, detail);
    return server::Step::done;
}

net::Task<> RequestHandler::rest() {
    Request request = request_of(stream_.head());
    const Result<void, http::HeadError> body = co_await read_body(request.body);
    if (!body) {
        refuse(body.error().status, body.error().detail);
        co_return;
    }
    stream_.watch();
    const Response response = co_await answer_safely(std::move(request));
    if (!gone_)
        send(response);
}

net::Task<Result<void, http::HeadError>> RequestHandler::read_body(std::string& body) {
    body = stream_.buffered_body();
    if (stream_.body_done())
        co_return Result<void, http::HeadError>{};
    loop_.deadlines.arm(*this, timeout, net::read_coarse_clock());
    server::Sent allowed = stream_.allow_body();
    while (allowed == server::Sent::part && !timed_out_)
        allowed = co_await stream_.flush();
    if (allowed == server::Sent::gone)
        co_return http::HeadError{400, "The request's body broke off."};
    stream_.drop_buffered_body();
    net::Block block = loop_.body_blocks.borrow();
    while (!stream_.body_done()) {
        const server::BodyPiece piece = co_await stream_.read_body(block);
        if (piece.status == server::BodyPiece::Status::malformed)
            co_return http::HeadError{400, piece.detail};
        if (timed_out_ && !stream_.body_done())
            co_return http::HeadError{408, "The request's body did not arrive in time."};
        if (piece.status == server::BodyPiece::Status::gone)
            co_return http::HeadError{400, "The request's body broke off."};
        body += piece.payload;
        if (body.size() > max_body)
            co_return http::HeadError{413, too_large};
    }
    disarm();
    co_return Result<void, http::HeadError>{};
}

// Answers 500 on an exception, such as out of memory: only this request fails.
net::Task<Response> RequestHandler::answer_safely(Request request) {
    try {
        co_return co_await answer(service_, std::move(request));
    } catch (const std::exception& failure) {
        spdlog::error("a request to the admin listener failed: {}", failure.what());
    }
    co_return problem(500, "The request failed inside the gateway; its log says why.");
}

// Refuses a request whose end cannot be found, so nothing after it can be read either.
void RequestHandler::refuse(int status, std::string_view detail) {
    Response response = problem(status, detail);
    if (status == 405)
        response.fields.emplace_back("Allow", "GET, HEAD, POST, PUT, DELETE");
    stream_.close_after();
    send(response);
}

void RequestHandler::send(const Response& response) {
    write_to(response_, response);
    const std::string_view date = loop_.dates.format(net::read_clocks().wall);
    gone_ = stream_.send_local(response_, date) == server::Sent::gone || gone_;
}

server::RequestEnd RequestHandler::finish() {
    disarm();
    return {.clean = !gone_ && stream_.body_done(), .gone = gone_};
}

void RequestHandler::on_deadline() noexcept {
    timed_out_ = true;
    stream_.cancel();
}

} // namespace stint::admin
