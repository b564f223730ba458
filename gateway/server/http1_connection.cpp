#include "server/http1_connection.hpp"

#include "net/clock.hpp"
#include "net/io.hpp"
#include "net/linger.hpp"
#include "server/connection_entry.hpp"
#include "server/hand_over.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace stint::server {
namespace {

// For the first request of a client that connects just before a drain.
constexpr Duration longest_last_chance = std::chrono::seconds{1};

} // namespace

Http1Connection::Http1Connection(
    Loop& loop,
    Service& service,
    ConnectionSlot slot,
    net::Socket socket,
    const IpAddress& peer,
    ListenerOptions options)
    : loop_{loop}, service_{service}, slot_{std::move(slot)}, io_{std::move(socket)},
      peer_{peer, loop.totals.hasher}, input_{loop, io_, handler_, options.half_close_allowed},
      options_{std::move(options)}, session_{service.open_session()} {
    loop_.connections.push_back(*this);
    loop_.totals.connections.fetch_add(1, std::memory_order_relaxed);
    service_.on_connections(1);
}

Http1Connection::~Http1Connection() {
    loop_.totals.connections.fetch_sub(1, std::memory_order_relaxed);
    service_.on_connections(-1);
}

net::Task<> Http1Connection::serve(std::unique_ptr<Http1Connection> self) {
    Http1Connection& connection = *self;
    try {
        connection.arm(Phase::first, connection.settings().head_timeout);
        Entry entry = Entry::served;
        if (connection.handed_) [[unlikely]]
            enter_again(connection);
        else
            entry = co_await enter(connection);
        if (entry == Entry::refused)
            connection.ending_ = Ending::linger_briefly;
        if (entry == Entry::served) {
            connection.introduce();
            const bool http2 = !connection.handed_ && co_await speaks_http2(connection);
            if (http2)
                co_await connection.serve_http2();
            else
                co_await connection.serve_requests();
        }
        if (connection.ending_ != Ending::close)
            co_await connection.finish();
    } catch (const std::exception& failure) {
        if (connection.loop_.totals.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a connection failed inside the gateway: {}", failure.what());
        if (connection.handler_)
            connection.handler_->on_client_gone();
    }
    if (connection.handler_)
        co_await connection.handler_->join();
    connection.handler_.reset();
    connection.disarm();
    net::close(connection.io_);
    while (connection.input_.reads())
        co_await connection.input_.wait();
}

// Notes the facts that streams tell about their connection.
void Http1Connection::introduce() noexcept {
    head_begun_ = {};
    net::TlsSession* const tls = io_.tls();
    info_ = {
        .peer = &peer_,
        .socket = &io_.socket(),
        .tls_subject = tls != nullptr ? std::string_view{tls->peer_subject()} : std::string_view{},
        .tls_version = tls != nullptr ? tls->version() : std::string_view{},
        .session = session_.get(),
        .https_port = options_.https_port,
        .secure = tls != nullptr};
    if (handed_) [[unlikely]] {
        info_.tls_subject = handed_->tls_subject;
        info_.tls_version = handed_->tls_version;
        info_.secure = handed_->secure;
        info_.waiting_since = handed_->waiting_since;
    }
}

void Http1Connection::continue_from(HandedConnection handed) {
    handed_ = std::make_unique<HandedConnection>(std::move(handed));
    const std::string& bytes = handed_->received;
    if (bytes.empty())
        return;
    ReceivedBytes& received = input_.received();
    received.borrow(loop_.head_blocks(std::max(settings().max_head, bytes.size())));
    received.append({bytes.data(), bytes.size()});
}

net::Task<> Http1Connection::serve_http2() {
    disarm();
    http2_ = std::make_unique<Http2Connection>(*this);
    info_.waits = &http2_->waits();
    const bool lingers = co_await http2_->serve();
    ending_ = lingers ? Ending::linger_briefly : Ending::close;
    http2_.reset();
}

net::Task<> Http1Connection::serve_requests() {
    for (bool keep = true; keep;) {
        while (!input_.received().find_head()) {
            if (has_batch()) [[unlikely]] {
                if (const bool sent = co_await flush_batch(); !sent)
                    co_return;
                stream_.reset();
                await_next_head();
                continue; // more may have come
            }
            if (loop_.totals.successor != nullptr && can_be_handed_over(*this)) [[unlikely]] {
                ending_ = Ending::hand_over;
                co_return;
            }
            if (!read_on())
                break;
            co_await input_.wait();
        }
        // A read that began while this request was pipelined would take a part of its body.
        if (input_.reads()) [[unlikely]]
            co_await input_.stop();
        if (input_.received().empty() || !input_.can_answer())
            break;
        if (loop_.totals.successor != nullptr) [[unlikely]] {
            ending_ = Ending::hand_over;
            co_return;
        }
        next_ = Step::pending;
        Step step = begin_request();
        if (step != Step::done && has_batch()) [[unlikely]]
            if (const bool sent = co_await flush_batch(); !sent)
                handler_->on_client_gone();
        if (step == Step::pending) {
            while (next_ == Step::pending)
                co_await resumed_.wait();
            step = next_;
        }
        if (step == Step::rest)
            co_await handler_->rest();
        const RequestEnd end = handler_->finish();
        if (end.given_back) [[unlikely]] {
            ending_ = Ending::hand_over;
            co_return;
        }
        if (!end.gone && !end.reset && stream_->has_unsent()) [[unlikely]]
            if (const bool sent = co_await flush_response(); !sent)
                co_return;
        keep = end_request(end);
        handler_.reset();
        if (!stream_->has_batch()) [[likely]]
            stream_.reset();
    }
    if (has_batch()) [[unlikely]]
        co_await flush_batch();
}

// Hands the connection over, with a request that was given back, or closes it in two steps. A
// coroutine of its own because every idle connection keeps the frames of serve() and
// serve_requests().
net::Task<> Http1Connection::finish() {
    if (ending_ == Ending::hand_over && handler_) {
        input_.watch_no_more();
        co_await input_.stop();
        const GivenBack given = handler_->given_back();
        std::optional<std::string> request = stream_->give_back(given.body);
        handler_.reset();
        stream_.reset();
        const bool handed = co_await hand_over(*this, std::move(request), given.since);
        ending_ = handed ? Ending::close : Ending::linger_briefly;
    } else if (ending_ == Ending::hand_over) {
        co_await hand_over(*this);
        ending_ = Ending::close;
    }
    if (ending_ != Ending::close && !input_.error())
        co_await close_gently();
}

// Sends the batched responses, before the connection waits for anything.
net::Task<bool> Http1Connection::flush_batch() {
    const Sent sent = stream_->flush_batch();
    if (sent != Sent::part)
        co_return sent == Sent::all;
    co_return co_await flush_response();
}

// Sends the unsent bytes of a response. Closes the connection of a client that takes nothing for
// head_timeout.
net::Task<bool> Http1Connection::flush_response() {
    Sent sent = Sent::part;
    while (sent == Sent::part) {
        arm(Phase::send, settings().head_timeout);
        sent = co_await stream_->flush();
        disarm();
    }
    co_return sent == Sent::all;
}

Step Http1Connection::begin_request() {
    disarm();
    ReceivedBytes& received = input_.received();
    received.make_room(received.is_far_in());
    if (!stream_) [[likely]]
        stream_ = loop_.streams.take(*this, info_);
    handler_ = service_.make_handler(*stream_);
    RequestHandler& handler = *handler_;
    const ConnectionSettings& now = settings();
    if (received.head_size() == 0 || received.head_size() > now.max_head) [[unlikely]]
        return reject_head();
    if (const auto error = stream_->begin(received.head_size(), now)) [[unlikely]]
        return handler.on_bad_request(error->status, error->detail);
    return handler.on_request();
}

// Ends the request. Returns true if the connection is kept alive.
bool Http1Connection::end_request(const RequestEnd& end) {
    const Http1Stream::Result result = stream_->end(end);
    input_.watch_no_more();
    ending_ = result.linger ? Ending::linger : Ending::close;
    input_.received().consume(result.consumed);
    head_begun_ = {};
    info_.waiting_since = {};
    if (result.keep)
        await_next_head();
    return result.keep;
}

void Http1Connection::resume(Step next) {
    next_ = next;
    resumed_.signal();
}

void Http1Connection::arm(Phase phase, Duration length) {
    phase_ = phase;
    loop_.deadlines.arm(*this, length, net::read_coarse_clock());
}

void Http1Connection::on_deadline() noexcept {
    const Duration idle = settings().idle_timeout;
    switch (phase_) {
    case Phase::idle:
        if (session_ && session_->keeps_open())
            return arm(Phase::idle, std::min(Sheddable::park_after, idle));
        if (idle > Sheddable::park_after) {
            input_.park();
            return arm(Phase::parked, idle - Sheddable::park_after);
        }
        [[fallthrough]];
    case Phase::parked:
    case Phase::send:
    case Phase::linger:
        return net::close(io_);
    case Phase::discard:
        return net::cancel(io_);
    case Phase::pause:
        return input_.wake();
    case Phase::last_chance:
        return input_.close_if_silent();
    case Phase::first:
    case Phase::head:
        timed_out_ = true;
        net::cancel(io_);
    }
}

// Does not close the socket at once: a request may have been read already, and its handler be about
// to run.
void Http1Connection::drain() noexcept {
    if (http2_)
        return http2_->drain();
    if (handler_ != nullptr) {
        if (loop_.totals.successor != nullptr)
            handler_->on_hand_over();
        return handler_->on_drain();
    }
    if (loop_.totals.successor != nullptr && info_.peer == nullptr)
        return; // it is handed over once it has been entered
    const bool in_preface = phase_ == Phase::first && options_.http2_prior_knowledge;
    const bool waits = input_.reads() && phase_ != Phase::linger && !in_preface;
    if (loop_.totals.successor != nullptr && waits && can_be_handed_over(*this))
        return net::cancel(io_); // serve_requests() hands it over
    const bool silent = input_.reads() && input_.received().empty();
    if (phase_ == Phase::first && silent)
        return arm(Phase::last_chance, std::min(longest_last_chance, settings().head_timeout));
    if (phase_ != Phase::linger && phase_ != Phase::last_chance)
        input_.close_if_silent();
}

void Http1Connection::abort() noexcept {
    if (session_)
        session_->on_abort();
    net::close(io_);
    if (http2_)
        return http2_->abort(); // this call may destroy the connection
    if (handler_ != nullptr)
        return handler_->on_client_gone(); // so may this one
    if (phase_ == Phase::pause && armed()) {
        disarm();
        input_.wake();
    }
}

net::Task<> Http1Connection::close_gently() {
    using Next = net::Linger::Next;
    const bool briefly = ending_ == Ending::linger_briefly;
    net::shutdown_send(io_);
    if (!session_ || !session_->keeps_open()) // else shedding would end the session, too
        loop_.lingering.push_back(input_);
    net::Linger linger{net::read_coarse_clock()};
    for (Next next = Next::read; next != Next::close && !input_.error();) {
        if (next == Next::pause) {
            arm(Phase::pause, net::Linger::interval);
            co_await input_.wait();
        }
        const bool hurries = briefly || loop_.draining;
        arm(Phase::linger, hurries ? net::Linger::brief : net::Linger::silence);
        if (!input_.reads()) {
            input_.received().clear();
            if (!input_.begin_reading(*settings().head_blocks))
                break;
        }
        co_await input_.wait();
        const Duration most = briefly || loop_.draining ? net::Linger::brief : net::Linger::longest;
        next = linger.take(input_.received().size(), net::read_coarse_clock(), most);
    }
    input_.shed_no_more();
    disarm();
}

} // namespace stint::server
