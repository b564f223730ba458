#include "proxy/request.hpp"

#include "net/clock.hpp"
#include "routing/log_key.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <utility>

namespace stint::proxy {

Request::Request(Context& context, server::ClientStream& stream, Aborted& aborted)
    : context_{context}, stream_{stream}, aborted_{aborted}, config_{context.active},
      callbacks_{context, *config_, stream.connection().waits, stream.connection().waiting_since},
      admission_{
          admission::Door::proxy,
          {.snapshot = *config_->snapshot,
           .scratch = context.scratch,
           .callbacks = callbacks_,
           .ticket_hasher = &context.shared().ticket_hasher,
           .prepaid = &context.shared().prepaid,
           .shares = &context.shares}},
      record_{stream.connection().peer, net::read_clocks()} {}

void Request::take_head() {
    if (const SteadyTime since = stream_.connection().waiting_since; since != SteadyTime{})
        [[unlikely]]
        record_.add_wait(record_.arrived().steady - since);
    record_.take(head(), snapshot(), context_.request_ids, context_.shared().hasher);
}

bool Request::enter() {
    const std::size_t most = snapshot().load.max_requests_in_flight;
    if (most == 0) [[likely]]
        return true;
    slot_ = context_.shared().in_flight.enter(most);
    if (slot_)
        return true;
    fail(503, "max_requests_in_flight is reached", observe::Outcome::refused);
    admission_.reply().set_retry_after(std::chrono::seconds{1});
    return false;
}

routing::KeyFacts Request::facts() const {
    return admission::facts_of(
        head(), record_.client(), context_.shared().hasher, stream_.connection().tls_subject);
}

Next Request::decide(routing::KeyFacts& facts) {
    callbacks_.name(record_.id(), record_.arrived().wall);
    const Next next = take(admission_.decide(head(), facts, stream_.bytes_in(), record_.arrived()));
    if (has_route()) [[likely]]
        route_in_flight_.enter(context_.counters, route().metric);
    return next;
}

Next Request::take(admission::Next decided) {
    switch (decided) {
    case admission::Next::forward:
        return Next::forward;
    case admission::Next::respond: // the route has a fixed answer and no upstream
        fail(route().answer->status, {}, observe::Outcome::responded);
        return Next::reply;
    case admission::Next::wait_queue:
        return Next::wait_queue;
    case admission::Next::wait_cooldown:
        return Next::wait_cooldown;
    case admission::Next::wait_shares:
        return Next::wait_shares;
    case admission::Next::reply:
        break;
    }
    if (admission_.ending().connection)
        stream_.close_after();
    record_.end_as(admission_.ending().status, admission_.ending().outcome);
    return Next::reply;
}

Duration Request::end_wait() {
    const SteadyTime now = net::read_steady_clock();
    const Duration waited = admission_.resume({now, record_.wall_at(now)});
    record_.add_wait(waited);
    return waited;
}

void Request::fail(int status, std::string detail, observe::Outcome outcome) {
    record_.end_as(status, outcome);
    if (outcome != observe::Outcome::upstream_failed)
        return admission_.reply().explain(std::move(detail));
    admission_.reply().blame_upstream(std::move(detail));
    if (context_.shared().upstream_failures_logged.pass(net::read_steady_clock()))
        spdlog::warn("request {}: {}", record_.id(), admission_.reply().upstream_error());
}

void Request::abort(AbortReason why) noexcept {
    // A request that timed out in connecting may still be retried, but not once its client has
    // gone: client_gone therefore replaces connect_timeout.
    const bool worse =
        abort_reason_ == AbortReason::connect_timeout && why == AbortReason::client_gone;
    if (abort_reason_ != AbortReason::no && !worse)
        return;
    abort_reason_ = why;
    aborted_.on_abort();
}

void Request::release(const Now& now) noexcept {
    admission_.permit().release(now);
    slot_ = {};
}

void Request::end(const Now& now, std::string_view endpoint, unsigned attempts) {
    if (!admission_.settlement().empty()) [[unlikely]]
        admission_.settlement().settle_end(record_.status(), admission_.permit(), now);
    admission_.permit().release(now);
    count();
    if (context_.access_log.enabled())
        log(now, endpoint, attempts);
}

void Request::count() noexcept {
    auto& counters = context_.counters.routes[has_route() ? route().metric : 0];
    const auto status_class =
        static_cast<std::size_t>(stream_.bytes_out() > 0 ? record_.status() / 100 : 0);
    ++counters.requests[static_cast<std::size_t>(record_.outcome())][status_class];
    counters.bytes_in += stream_.bytes_in();
    counters.bytes_out += stream_.bytes_out();
}

// Returns the key by which the request was refused, as the configuration wants it logged.
std::string Request::refused_key() {
    const std::string_view name = admission_.reply().limit();
    for (std::size_t i = 0; i < route().limits.size(); ++i) {
        const routing::AppliedLimit limit = snapshot().on(route(), i);
        if (limit->limit->identity().name != name || limit->key.empty())
            continue;
        routing::KeyFacts facts = this->facts();
        admission_.complete(head(), facts);
        std::string scratch;
        return routing::logged(limit->key.evaluate(facts, scratch), snapshot().log.key);
    }
    return {};
}

void Request::log(const Now& now, std::string_view endpoint, unsigned attempts) {
    observe::AccessRecord line;
    record_.fill(line);
    line.host = head().authority;
    line.route = has_route() ? std::string_view{route().name} : std::string_view{};
    line.method = head().method;
    if (!line.method.empty())
        line.protocol = head().http2               ? "HTTP/2.0"
                        : head().minor_version > 0 ? "HTTP/1.1"
                                                   : "HTTP/1.0";
    line.tls = stream_.connection().tls_version;
    line.path = head().target;
    line.limit = admission_.reply().limit();
    const std::string key = line.limit.empty() ? std::string{} : refused_key();
    line.key = key;
    line.would_refuse = admission_.dry_run().would_refuse;
    line.would_wait = admission_.dry_run().would_wait;
    line.cost_overrun = admission_.settlement().overrun();
    line.upstream = endpoint;
    line.upstream_error = admission_.reply().upstream_error();
    line.attempts = attempts;
    line.bytes_in = stream_.bytes_in();
    line.bytes_out = stream_.bytes_out();
    const SteadyTime since = stream_.connection().waiting_since;
    line.duration = now.steady - (since != SteadyTime{} ? since : record_.arrived().steady);
    context_.access_log.write(line);
}

void Request::cancel_limits() noexcept {
    if (QueuedRequest* const queued = callbacks_.queued())
        context_.wakeups.give_up(*queued);
    if (callbacks_.share_wakeup().is_begun())
        callbacks_.share_wakeup().give_up();
}

void Request::arm(Waiting what, Duration length) {
    waiting_ = what;
    context_.deadlines.arm(*this, length, net::read_coarse_clock());
}

} // namespace stint::proxy
