#include "admin/request_handler.hpp"

#include "admin/event_stream.hpp"
#include "net/clock.hpp"
#include "server/whole_body.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace stint::admin {
server::Step RequestHandler::on_request() {
    if (stream_.head().framing.length <= server::WholeBody::most)
        return server::Step::rest;
    refuse(server::WholeBody::too_large.status, server::WholeBody::too_large.detail);
    return server::Step::done;
}

server::Step RequestHandler::on_bad_request(int status, std::string_view detail) {
    refuse(status, detail);
    return server::Step::done;
}

net::Task<> RequestHandler::rest() {
    Request request = request_of(stream_.head());
    server::WholeBody body{loop_, stream_};
    const std::optional<http::HeadError> refusal = co_await body.read(timeout, request.body);
    if (refusal)
        co_return refuse(refusal->status, refusal->detail);
    const bool wants_events = asks_for_events(stream_.head());
    stream_.watch();
    Response response = co_await answer_safely(request);
    if (gone_)
        co_return;
    if (!wants_events || response.status != 200 || response.content_type != "application/json")
        co_return send(response);
    if (service_.event_streams >= max_event_streams)
        co_return send(problem(503, "16 clients watch the gateway already."));
    co_await send_events(std::move(request), std::move(response));
}

net::Task<> RequestHandler::send_events(Request request, Response response) {
    const EventStreamPlace place{service_.event_streams};
    stream_.close_after();
    response_.begin(200, "text/event-stream");
    response_.set_no_store();
    response_.set_content(http::Response::Content::begun);
    response_.fields() << "X-Accel-Buffering: no\r\n"; // tells nginx not to buffer the events
    const std::string_view date = loop_.dates.format(net::read_clocks().wall);
    gone_ = stream_.send_local(response_, date) == server::Sent::gone;
    while (!gone_) {
        const bool last = response.status != 200;
        const bool sent = co_await send_event(event_of(response.body, last ? "error" : ""));
        gone_ = gone_ || !sent;
        if (gone_ || last)
            co_return;
        stream_.watch();
        loop_.deadlines.arm(*this, between_events, net::read_coarse_clock());
        co_await next_event_.wait();
        disarm();
        if (!gone_)
            response = co_await answer_safely(request);
    }
}

// Sends one event. Returns false if the client has disconnected, or has not read for so long that
// its connection is closed.
net::Task<bool> RequestHandler::send_event(std::string event) {
    event_ = std::move(event);
    server::Sent sent = stream_.send_body({.payload = event_});
    while (sent == server::Sent::part && !gone_ && !timed_out_) {
        loop_.deadlines.arm(*this, timeout, net::read_coarse_clock());
        sent = co_await stream_.flush();
        disarm();
    }
    co_return sent == server::Sent::all;
}

// Answers a request, with 500 after an exception such as std::bad_alloc, so that only this request
// fails.
net::Task<Response> RequestHandler::answer_safely(Request request) {
    try {
        co_return co_await answer(service_, std::move(request));
    } catch (const std::exception& failure) {
        spdlog::error("a request to the admin listener failed: {}", failure.what());
    }
    co_return problem(500, "The request failed inside the gateway; its log says why.");
}

// Refuses a request that is malformed or that is not read to its end, and closes the connection,
// because no further request can be read from it.
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

void RequestHandler::on_drain() noexcept {
    if (next_event_.has_waiter()) // a stream of events
        on_client_gone();
}

void RequestHandler::on_client_gone() noexcept {
    gone_ = true;
    next_event_.signal();
}

void RequestHandler::on_deadline() noexcept {
    if (next_event_.has_waiter())
        return next_event_.signal();
    timed_out_ = true;
    stream_.cancel();
}

} // namespace stint::admin
