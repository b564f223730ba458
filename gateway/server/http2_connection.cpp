#include "server/http2_connection.hpp"

#include "net/clock.hpp"
#include "net/io.hpp"
#include "server/http1_connection.hpp"
#include "server/loop.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace stint::server {
namespace {

using Phase = Http2StreamState::Phase;

Http2SessionSettings
settings_for(const Http2Bounds& bounds, const ConnectionSettings& settings) noexcept {
    return {
        .max_streams = bounds.max_streams,
        .stream_window = static_cast<std::uint32_t>(bounds.stream_window),
        .connection_window = static_cast<std::uint32_t>(bounds.connection_window),
        .max_header_list = static_cast<std::uint32_t>(
            std::min<std::size_t>(settings.max_head, std::numeric_limits<std::uint32_t>::max())),
        .connect_protocol = settings.websockets};
}

} // namespace

Http2Connection::Http2Connection(Http1Connection& host)
    : host_{host}, loop_{host.loop()}, bounds_{host.options().http2},
      session_{*this, settings_for(bounds_, host.settings())}, glitches_{bounds_.max_glitches},
      waits_{bounds_.max_waiting_streams}, times_{*this, host, session_, output_, drain_},
      half_close_{*this, host} {}

net::Task<bool> Http2Connection::serve() {
    ClientInput& input = host_.input();
    ++loop_.counters.http2_connections;
    times_.await_settings();
    turn();
    while (!over()) {
        if (!input.received().empty()) {
            const bool fed = session_.feed(input.received().bytes());
            input.received().clear();
            if (session_.flooded())
                on_flood();
            else if (session_.wastes(net::read_coarse_clock()))
                end_abuse();
            turn();
            ended_ = ended_ || !fed;
            continue;
        }
        if (half_close_.begin(session_, drain_, streams_)) {
            turn();
            continue;
        }
        if (!half_close_.begun() &&
            (input.error() ||
             (!input.reads() && !input.begin_reading(*host_.settings().head_blocks))))
            break;
        co_await input.wait();
    }
    const bool may_read = !input.error() && !abusive_ && !output_.failed();
    if (may_read && drain_.stopped() && host_.session() != nullptr)
        host_.session()->on_abort();
    end_streams();
    turn();
    while (!streams_.empty() || running_ > 0 || scheduled_ || awaits_writable_ ||
           half_close_.pending()) {
        if (awaits_writable_ || half_close_.pending())
            net::cancel(host_.io());
        co_await quiet_.wait();
    }
    co_await input.stop(); // a parked input is on a list, and is to go on another one
    co_return may_read;
}

// --- the turn ---

// Does what was noted, and sends what there is to send, until nothing is left to do at once. What
// streams held that the client has reset is free before others are begun, which may need it.
void Http2Connection::turn() noexcept {
    if (std::exchange(in_turn_, true))
        return;
    try {
        do {
            for (Http2Stream* each = noted_; each != nullptr; each = each->state.next_listed)
                tell_gone(*each);
            while (noted_ != nullptr) {
                Http2Stream& stream = *noted_;
                noted_ = stream.state.next_listed;
                if (noted_ == nullptr)
                    noted_end_ = &noted_;
                stream.state.listed = false;
                look(stream);
            }
            send_now();
        } while (noted_ != nullptr);
        if (ended_)
            times_.stop();
        else
            times_.watch(streams_.empty());
    } catch (const std::exception& failure) {
        if (loop_.totals.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a connection failed inside the gateway: {}", failure.what());
        ended_ = true;
    }
    in_turn_ = false;
}

// Goes on with serve(), if it has to. May destroy this object.
void Http2Connection::after_turn() {
    if (closing_)
        return quiet_.signal();
    if (over())
        host_.input().wake();
}

void Http2Connection::schedule() noexcept {
    if (in_turn_ || std::exchange(scheduled_, true))
        return;
    net::asio::post(loop_.executor, net::in_place(turn_memory_, [this] {
                        scheduled_ = false;
                        turn();
                        after_turn();
                    }));
}

void Http2Connection::look_at(Http2Stream& stream) noexcept {
    if (!std::exchange(stream.state.listed, true)) {
        stream.state.next_listed = nullptr;
        *noted_end_ = &stream;
        noted_end_ = &stream.state.next_listed;
    }
    schedule();
}

// Tells the handler of a stream that was closed before its end, once.
void Http2Connection::tell_gone(Http2Stream& stream) {
    Http2StreamState& state = stream.state;
    // A tunnel goes on after the end of its response, unless the client has ended its side, too.
    const bool over = state.out.done() && (state.in.ended() || !stream.head().extended_connect);
    if (state.closed && state.handler && !over && !std::exchange(state.told_gone, true))
        state.handler->on_client_gone();
}

// Looks at one stream: begins its request, tells its handler what has become of the client, and
// ends it. May end the stream's life.
void Http2Connection::look(Http2Stream& stream) {
    Http2StreamState& state = stream.state;
    if (state.phase == Phase::arrived) {
        state.phase = Phase::begun;
        if (!state.closed)
            dispatch(stream);
    }
    tell_gone(stream);
    stream.wake();
    if (state.handler && !state.running && state.next != Step::pending) {
        if (state.next == Step::done) {
            end_request(stream);
        } else {
            state.next = Step::pending;
            state.running = true;
            ++running_;
            net::spawn(loop_.executor, run(*this, stream, false));
        }
    }
    if (host_.session() != nullptr)
        tell_session(stream);
    if (!state.handler && !state.running && state.phase == Phase::begun && !reap(stream))
        stream.watch_sending();
}

// Tells the session once what of the response has become of: given to the socket, or not wanted any
// more. Of a connection that ends, the session learns it by its own end.
void Http2Connection::tell_session(Http2Stream& stream) noexcept {
    Http2StreamState& state = stream.state;
    if (state.out.told() || closing_)
        return;
    const bool unwanted = state.closed && (state.out.unwanted() || !state.out.done());
    if (unwanted && !state.handler) {
        state.out.set_told();
        host_.session()->on_unsent(static_cast<std::uint32_t>(state.id));
    } else if (!unwanted && state.out.all_taken() && !output_.blocked() && !output_.failed()) {
        state.out.set_told();
        host_.session()->on_sent(static_cast<std::uint32_t>(state.id));
    }
}

void Http2Connection::dispatch(Http2Stream& stream) {
    Http2StreamState& state = stream.state;
    if (loop_.totals.successor != nullptr) [[unlikely]]
        return reset(stream, Http2Error::refused_stream);
    try {
        const auto error = stream.begin(!drain_.begun());
        state.handler = host_.service().make_handler(stream);
        const Step step = error ? state.handler->on_bad_request(error->status, error->detail)
                                : state.handler->on_request();
        if (step != Step::pending)
            state.next = step;
    } catch (const std::exception& failure) {
        if (loop_.totals.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request failed inside the gateway: {}", failure.what());
        reset(stream, Http2Error::internal);
        if (!state.handler)
            return;
        state.running = true;
        ++running_;
        net::spawn(loop_.executor, run(*this, stream, true));
    }
}

// Runs the steps of a handler that need a coroutine; failed: only ends them.
net::Task<> Http2Connection::run(Http2Connection& self, Http2Stream& stream, bool failed) {
    RequestHandler& handler = *stream.state.handler;
    try {
        if (!failed)
            co_await handler.rest();
    } catch (const std::exception& failure) {
        if (self.loop_.totals.failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a request failed inside the gateway: {}", failure.what());
        self.reset(stream, Http2Error::internal);
        failed = true;
    }
    if (failed) {
        handler.on_client_gone();
        co_await handler.join();
        stream.state.handler.reset();
    }
    stream.state.running = false;
    --self.running_;
    stream.state.next = Step::done;
    self.look_at(stream);
}

// Ends a request, whatever has become of its stream.
void Http2Connection::end_request(Http2Stream& stream) {
    Http2StreamState& state = stream.state;
    stream.uncount_unsent();
    const RequestEnd end = state.handler->finish();
    state.handler.reset();
    state.next = Step::pending;
    if (state.closed)
        return;
    if (end.given_back)
        return reset(stream, Http2Error::refused_stream);
    if (end.reset || !stream.head_sent()) // RFC 8441 section 5 cancels a broken tunnel
        return reset(
            stream, stream.head().extended_connect ? Http2Error::cancel : Http2Error::internal);
    if (state.out.is_in_place()) // the client has not taken them, and they are gone
        return reset(stream, Http2Error::cancel);
    if (!state.out.last() && !state.out.done()) { // the body was only begun
        state.out.end({});
        session_.resume(state.id);
    }
}

// Gives the stream back if nothing is left of it. A request that was answered before it had ended
// is cut short (RFC 9113 section 8.1).
bool Http2Connection::reap(Http2Stream& stream) noexcept {
    Http2StreamState& state = stream.state;
    if (!state.closed && state.out.done() && !state.in.ended() && !state.reset)
        reset(stream, Http2Error::none);
    const bool untold = host_.session() != nullptr && !state.out.told() && !closing_;
    if (!state.closed || state.listed || untold)
        return false;
    const auto at = std::ranges::find(streams_, &stream, &Streams::Pointer::get);
    std::swap(*at, streams_.back());
    streams_.pop_back();
    return true;
}

void Http2Connection::send_now() noexcept {
    if (output_.blocked() || ended_ || std::exchange(sending_, true))
        return;
    try {
        net::Block scratch = loop_.body_blocks.borrow();
        output_.begin(host_.io(), scratch.span());
        while (!output_.blocked() && !output_.failed()) {
            const std::string_view frames = session_.next_frames();
            if (frames.empty())
                break;
            output_.add_copy(frames);
        }
        output_.finish();
        if (output_.blocked())
            await_writable();
    } catch (const std::exception&) { // no memory
        ended_ = true;
    }
    sending_ = false;
    ended_ = ended_ || output_.failed();
    if (ended_)
        schedule();
}

void Http2Connection::await_writable() {
    if (std::exchange(awaits_writable_, true))
        return;
    const auto writable = [this](const ErrorCode&) {
        awaits_writable_ = false;
        if (!closing_ && host_.io().socket().is_open()) {
            output_.send_kept(host_.io());
            ended_ = ended_ || output_.failed();
            if (output_.blocked() && !ended_)
                return await_writable();
            for (const Streams::Pointer& stream : streams_)
                if (host_.session() != nullptr && !stream->state.out.told())
                    look_at(*stream);
            turn();
        }
        after_turn();
    };
    host_.io().socket().async_wait(net::Socket::wait_write, net::in_place(write_memory_, writable));
}

// --- what streams ask for ---

bool Http2Connection::submit_interim(Http2Stream& stream) {
    schedule();
    return session_.submit_interim(stream.state.id, fields_);
}

bool Http2Connection::submit_response(Http2Stream& stream, bool has_body) {
    schedule();
    return session_.submit_response(stream.state.id, fields_, has_body);
}

void Http2Connection::resume_sending(Http2Stream& stream) noexcept {
    session_.resume(stream.state.id);
    schedule();
}

void Http2Connection::consume(Http2Stream& stream, std::size_t bytes) noexcept {
    session_.consume_stream(stream.state.id, bytes);
    schedule();
}

void Http2Connection::reset(Http2Stream& stream, Http2Error error) noexcept {
    if (stream.state.closed || std::exchange(stream.state.reset, true))
        return;
    session_.reset(stream.state.id, error);
    schedule();
}

} // namespace stint::server
