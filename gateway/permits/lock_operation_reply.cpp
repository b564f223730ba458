// The reply to a request for a lease.
#include "http/permit_text.hpp"
#include "http/problem_writer.hpp"
#include "http/query.hpp"
#include "http/reply_writer.hpp"
#include "net/clock.hpp"
#include "permits/lock_operation.hpp"
#include "permits/milliseconds.hpp"
#include "permits/no_lock.hpp"

#include <algorithm>
#include <chrono>

namespace stint::permits {
namespace {

std::string_view word(std::optional<locks::EndReason> how) noexcept {
    if (how == locks::EndReason::released)
        return "released";
    return how == locks::EndReason::forced ? "forced" : "expired";
}

constexpr http::ProblemKind busy{"about:blank", "Conflict"};
constexpr http::ProblemKind unknown{"about:blank", "Not Found"};
constexpr http::ProblemKind other_max{"about:blank", "Unprocessable Content"};

} // namespace

template <class Out>
void LockOperation::write_grant(Out& out) const {
    out << R"({"lease":")" << http::lease_text(grant().id) << R"(","lock":")";
    http::write_json_text(out, name_);
    out << R"(","fence":)" << grant().fence << R"(,"max":)" << grant().max << R"(,"count":)"
        << std::uint64_t{grant().count} << R"(,"expires_in_ms":)"
        << milliseconds_down(grant().expires - now_.steady);
    if (status_ == created)
        out << R"(,"waited_ms":)" << milliseconds_down(waited_);
    if (grant().replayed)
        out << R"(,"replayed":true)";
    out << "}";
}

void LockOperation::write(http::HeadBuffer& out, const http::ReplyContext& context) {
    if (status_ == 409 || status_ == 422)
        return write_busy(out, context);
    if (status_ == 503) {
        http::write_unavailable(out, context, detail_, retry_after_);
        return;
    }
    if (status_ == 404)
        return write_no_lock(out, context, name_, detail_);
    if (status_ != created && status_ != renewed) {
        http::write_problem(out, context, status_, detail_);
        return;
    }
    if (status_ == created && binding_ == locks::LeaseBinding::lease && untold_)
        connection_leases_.send(name_, grant());
    untold_ = false;
    if (streams())
        return write_stream(out, context);
    http::write_reply(
        out, context, status_, "application/json",
        [&](http::HeadBuffer& head) {
            if (status_ == created)
                head << "Location: /v1/locks/" << http::percent_encoded(name_) << "/leases/"
                     << http::lease_text(grant().id) << "\r\n";
        },
        [this](auto& sink) {
            write_grant(sink);
            sink << "\n";
        });
}

// Begins the server-sent events of the HTML standard (section 9.2); the end of the connection is
// the end of the response.
void LockOperation::write_stream(http::HeadBuffer& out, const http::ReplyContext& context) const {
    out << "HTTP/1.1 201 Created\r\nServer: stint\r\n";
    out.field("Date", context.date);
    out << "Content-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: "
           "close\r\n\r\nevent: granted\ndata: ";
    write_grant(out);
    out << "\n\n";
}

bool LockOperation::write_more(http::HeadBuffer& out) {
    now_ = net::read_clocks();
    if (const auto alive = book_.look(grant().id, now_)) {
        out << "event: alive\ndata: {\"expires_in_ms\":"
            << milliseconds_down(alive->expires - now_.steady) << "}\n\n";
        return true;
    }
    out << "event: lost\ndata: {\"reason\":\"" << word(book_.why(grant().id)) << "\"}\n\n";
    return false;
}

void LockOperation::write_busy(http::HeadBuffer& out, const http::ReplyContext& context) const {
    const bool is_busy = status_ == 409;
    const Duration wait = std::max<Duration>(retry_after_, std::chrono::milliseconds{1});
    http::write_reply(
        out, context, status_, "application/problem+json",
        [&](http::HeadBuffer& head) {
            if (is_busy)
                head << "Retry-After: " << static_cast<std::uint64_t>(retry_after_seconds(wait))
                     << "\r\nRetry-After-Ms: " << milliseconds_up(wait) << "\r\n";
        },
        [&](auto& sink) {
            http::write_problem_body(
                sink, http::MediaType::problem_json, status_, is_busy ? busy : other_max,
                [&](auto& text) {
                    if (closed_ > Duration::zero())
                        text << "The lock " << name_ << " is full until start_up_grace is over: "
                             << "who held it before the start is not known.";
                    else if (is_busy)
                        text << "The lock " << name_ << " is held; as many as may be are inside.";
                    else
                        text << "The lock " << name_ << ": " << detail_ << ".";
                },
                [&](auto& members) {
                    members << R"(,"lock":")";
                    http::write_json_text(members, name_);
                    members << R"(","max":)" << (is_busy ? lock_->max() : max_);
                    if (is_busy)
                        members << R"(,"held":)" << held_ << R"(,"retry_after_ms":)"
                                << milliseconds_up(wait);
                    if (closed_ > Duration::zero())
                        members << R"(,"reason":"start_up_grace")";
                });
        });
}

void write_no_lock(
    http::HeadBuffer& out,
    const http::ReplyContext& context,
    std::string_view lock,
    std::string_view detail) {
    http::write_reply(
        out, context, 404, "application/problem+json", [](http::HeadBuffer&) {},
        [&](auto& sink) {
            http::write_problem_body(
                sink, http::MediaType::problem_json, 404, unknown,
                [&](auto& text) { text << detail; },
                [&](auto& members) {
                    members << R"(,"lock":")";
                    http::write_json_text(members, lock);
                    members << "\"";
                });
        });
}

} // namespace stint::permits
