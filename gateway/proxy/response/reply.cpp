// The gateway's own replies, and request bodies that are discarded after them.
#include "http/head_parser.hpp"
#include "http/response_writer.hpp"
#include "net/clock.hpp"
#include "proxy/downstream/downstream.hpp"
#include "proxy/exchange.hpp"

#include <chrono>

namespace stint::proxy {
namespace {

using namespace std::chrono_literals;

// A refused request's body is read to its end, so that the connection can be kept alive, if it is
// this small and comes within this time.
constexpr std::uint64_t most_discarded = 64 * 1024;
constexpr Duration discard_time = 1s;

std::string_view first_word(std::span<const char> bytes) noexcept {
    const std::string_view text{bytes.data(), bytes.size()};
    return text.substr(0, text.find(' '));
}

} // namespace

// Sends the reply in one write: the path of a 429. True: nothing is left to wait for.
bool Exchange::reply_at_once() {
    const bool readable =
        request_framing_ == BodyFraming::Kind::chunked || body_left_ <= most_discarded;
    keep_alive_ = client_keeps_ && !context_.draining &&
                  (request_body_.done() || (readable && !expects_continue_ && !body_pump_.begun)) &&
                  abort_reason_ == AbortReason::no;
    write_reply();
    net::Gather gather;
    gather.add(context_.head_out.view());
    bytes_out_ += gather.bytes();
    head_sent_ = true;
    if (net::write_now(downstream_.stream(), gather)) {
        abort(AbortReason::client_gone);
        return true;
    }
    gather.append_to(pending_response_);
    return pending_response_.empty() && (request_body_.done() || !keep_alive_);
}

net::Task<Exchange::Result> Exchange::reply() {
    stop_pump();
    while (body_pump_.running)
        co_await body_pump_.stopped.wait();
    // The rest concerns the client alone: it needs neither the upstream nor a slot of a cap.
    lease_ = {};
    in_flight_.release();
    pass_ = {};
    admission_.permit().release({net::read_steady_clock(), begun_.wall});
    upstream_keeps_ = false;
    reply_for_abort();
    if (abort_reason_ == AbortReason::client_gone)
        co_return finish();
    // Results of co_await have names everywhere: GCC 12 has given this frame, with unnamed ones in
    // conditions, two layouts.
    bool sent = co_await send_unsent(); // an interim response's bytes
    if (!sent || (!head_sent_ && reply_at_once()))
        co_return finish();
    sent = co_await send_unsent();
    if (!sent)
        co_return finish();
    if (keep_alive_ && !request_body_.done())
        co_await discard_body();
    co_return finish();
}

// Sets the reply for the abort reason. An upstream's failure does not speak against the client's
// connection, which goes on.
void Exchange::reply_for_abort() {
    const auto upstream_failed = [this](int status, std::string detail) {
        abort_reason_ = AbortReason::no;
        fail(status, std::move(detail), observe::Outcome::upstream_failed);
    };
    switch (abort_reason_) {
    case AbortReason::no:
        return;
    case AbortReason::client_gone:
        status_ = head_sent_ ? status_ : 499;
        outcome_ = observe::Outcome::client_gone;
        return;
    case AbortReason::client_stalled:
        return fail(
            408, "the request's body did not arrive in time", observe::Outcome::client_gone);
    case AbortReason::bad_body:
        return end_as(400, observe::Outcome::rejected); // the pump has explained
    case AbortReason::body_too_long:
        return fail(413, std::string{admission::body_too_long}, observe::Outcome::rejected);
    case AbortReason::connect_timeout:
        return upstream_failed(504, "connecting to " + pool_->endpoint() + " took too long");
    case AbortReason::handshake_timeout:
        return upstream_failed(
            504, "the TLS handshake with " + pool_->endpoint() + " took too long");
    case AbortReason::response_timeout:
        return upstream_failed(504, pool_->endpoint() + " did not answer in time");
    case AbortReason::upstream_stalled:
        return upstream_failed(504, pool_->endpoint() + " did not take the request in time");
    case AbortReason::upstream_broken:
        return upstream_failed(502, pool_->endpoint() + " broke off");
    }
}

void Exchange::write_reply() {
    name_request(); // a head that could not be read has brought no id
    const bool responds = outcome_ == observe::Outcome::responded;
    if (!responds && !admission_.reply().knows_media() && !method_.empty())
        if (const auto request = context_.parser.parse_request(head_))
            admission_.reply().use(http::preferred_media_type(request->fields));
    http::ReplyContext context{.request_id = request_id_};
    if (!admission_.headers().empty()) {
        // A refusal's decision was made a moment ago: the clock is not read again.
        const bool just_decided = outcome_ == observe::Outcome::refused;
        const SteadyTime now =
            just_decided ? admission_.decided().steady : net::read_steady_clock();
        context.policies = admission_.headers().fields(route().telling, {now, wall_at(now)});
    }
    if (responds) [[unlikely]]
        make_answer(context);
    else
        admission_.reply().make(context_.response, context, status_);
    context_.head_out.clear();
    http::write_response(
        context_.head_out, context_.response,
        {.date = context_.dates.format(begun_.wall),
         // Also where the rest of the head could not be read: it has no body (RFC 9110
         // section 9.3.2).
         .head_request = (method_.empty() ? first_word(downstream_.received()) : method_) == "HEAD",
         .keep_alive = keep_alive_,
         .client_minor = minor_});
}

net::Task<> Exchange::discard_body() {
    net::Block block = context_.body_blocks.borrow();
    std::string_view payload;
    std::uint64_t discarded = 0;
    body_pump_.stopping = true; // a client that stops here is not a failure of anything
    forget_buffered_body();
    const SteadyTime end = net::read_steady_clock() + discard_time;
    bool more = true;
    while (more && !request_body_.done() && discarded < most_discarded) {
        more = co_await read_body(block, discard_time, payload);
        more = more && net::read_steady_clock() < end;
        discarded += payload.size();
    }
    keep_alive_ = keep_alive_ && request_body_.done();
}

} // namespace stint::proxy
