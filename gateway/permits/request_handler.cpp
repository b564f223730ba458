#include "permits/request_handler.hpp"

#include "base/counted.hpp"
#include "http/local_reply.hpp"
#include "net/clock.hpp"
#include "permits/call.hpp"
#include "server/whole_body.hpp"

#include <chrono>
#include <optional>

namespace stint::permits {
namespace {

using namespace std::chrono_literals;

constexpr Duration between_events = 1s; // interval of a stream's events

} // namespace

// The gateway, and not the client, has ended the response if it drains or has ended the connection:
// then a lease that ends with the response lives on until its ttl ends.
RequestHandler::~RequestHandler() {
    if (owners_ && owners_->response &&
        (service_.context.draining || owners_->connection.detached()))
        owners_->response->detach();
}

server::Step RequestHandler::on_request() {
    if (stream_.head().framing.length > server::WholeBody::most)
        return reject(server::WholeBody::too_large.status, server::WholeBody::too_large.detail);
    return stream_.body_done() ? call(stream_.buffered_body()) : server::Step::rest;
}

server::Step RequestHandler::on_bad_request(int status, std::string_view detail) {
    return reject(status, detail);
}

// Answers with an error and closes the connection: the position of the next request is not known.
server::Step RequestHandler::reject(int status, std::string_view detail) {
    http::make_problem(service_.context.response, {}, status, detail);
    stream_.close_after();
    send_reply();
    return server::Step::done;
}

server::Step RequestHandler::call(std::string_view body) {
    if (service_.context.totals.successor != nullptr) [[unlikely]] { // the body came late
        given_back_ = gone_ = true;
        return server::Step::done;
    }
    LeaseOwners& owners = owners_.emplace(session().leases);
    owners.stream = stream_.head().stream;
    owners.stays = stream_.head().keep_alive && !service_.context.draining;
    owners.waits = stream_.connection().waits;
    owners.waiting_since = stream_.connection().waiting_since;
    pending_ = answer(
        service_, stream_.head(), body, stream_.connection(), owners, service_.context.response);
    if (pending_) {
        waiting_since_ = net::read_steady_clock();
        return server::Step::rest;
    }
    send_reply();
    return server::Step::done;
}

// Sends the worker's response. The connection keeps what the socket does not take at once, and
// sends it later.
void RequestHandler::send_reply() {
    proxy::Context& context = service_.context;
    const std::string_view date = context.dates.format(net::read_clocks().wall);
    gone_ = stream_.send_local(context.response, date) == server::Sent::gone || gone_;
}

net::Task<> RequestHandler::rest() {
    if (!pending_) {
        server::WholeBody body{service_.context, stream_};
        const std::optional<http::HeadError> refusal =
            co_await body.read(service_.settings().head_timeout, body_);
        if (refusal)
            (void)reject(refusal->status, refusal->detail);
        if (refusal || call(body_) == server::Step::done)
            co_return;
    }
    co_await wait_for_reply();
    if (streaming_)
        co_await stream_events();
}

net::Task<> RequestHandler::wait_until_settled() {
    const Counted waiting{service_.context.counters.permits_waiting};
    bool settled = false;
    while (!settled && !gone_) {
        stream_.watch();
        co_await pending_->wait();
        stream_.poll_peer_close(); // detects a disconnect that was not read yet
        settled = !gone_ && pending_->settle();
    }
}

net::Task<> RequestHandler::wait_for_reply() {
    co_await wait_until_settled();
    if (gone_)
        co_return;
    pending_->respond(service_.context.response);
    streaming_ = pending_->streams();
    send_reply();
    if (!streaming_)
        pending_.reset();
}

// Sends an event a second until the lease ends, the client disconnects or the gateway drains.
net::Task<> RequestHandler::stream_events() {
    bool more = true;
    while (more && !gone_) {
        stream_.watch();
        arm(between_events);
        co_await next_event_.wait();
        disarm();
        ended_ = ended_ || service_.context.draining;
        if (gone_ || ended_)
            co_return;
        http::HeadBuffer& out = service_.context.head_out;
        out.clear();
        more = pending_->write_more(out);
        body_ = out.view();
        const bool sent = co_await send_event();
        gone_ = gone_ || !sent;
    }
    streaming_ = false;
}

// Sends the event in body_. False if the client has disconnected, or took nothing for head_timeout.
net::Task<bool> RequestHandler::send_event() {
    server::Sent sent = stream_.send_body({.payload = body_});
    while (sent == server::Sent::part && !gone_ && !timed_out_) {
        arm(service_.settings().head_timeout);
        sent = co_await stream_.flush();
        disarm();
    }
    co_return sent == server::Sent::all;
}

server::RequestEnd RequestHandler::finish() {
    disarm();
    if (given_back_) [[unlikely]] {
        pending_.reset();
        return {.given_back = true};
    }
    const bool clean = !gone_ && !ended_ && !streaming_ && stream_.body_done();
    return {.clean = clean, .gone = gone_ || ended_};
}

server::GivenBack RequestHandler::given_back() const {
    return {.body = std::string_view{body_}, .since = waiting_since_};
}

void RequestHandler::on_client_gone() noexcept {
    gone_ = true;
    if (streaming_)
        next_event_.signal();
    else if (pending_)
        pending_->give_up();
}

void RequestHandler::on_hand_over() noexcept {
    if (!pending_ || streaming_ || given_back_ || pending_->is_decided())
        return;
    given_back_ = gone_ = true;
    pending_->give_up();
}

void RequestHandler::on_drain() noexcept {
    if (streaming_)
        next_event_.signal();
    else if (pending_ && !service_.shared.grants_leases)
        pending_->on_replaced();
}

LeaseSession& RequestHandler::session() const noexcept {
    return static_cast<LeaseSession&>(*stream_.connection().session);
}

void RequestHandler::arm(Duration length) {
    service_.context.deadlines.arm(*this, length, net::read_coarse_clock());
}

// Wakes a stream whose next event is due. Otherwise an event took too long: cancels the I/O.
void RequestHandler::on_deadline() noexcept {
    if (next_event_.has_waiter())
        return next_event_.signal();
    timed_out_ = true;
    stream_.cancel();
}

} // namespace stint::permits
