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
        out << R"(,"waited_ms":)" << milliseconds_down(now_.steady - begun_);
    if (grant().replayed)
        out << R"(,"replayed":true)";
    out << "}";
}

void LockOperation::respond(http::Response& to) {
    if (status_ == 409 || status_ == 422)
        return refuse_busy(to);
    if (status_ == 503) {
        http::make_unavailable(to, {}, detail_, retry_after_);
        return;
    }
    if (status_ == 404)
        return make_no_lock(to, name_, detail_);
    if (status_ != created && status_ != renewed) {
        http::make_problem(to, {}, status_, detail_);
        return;
    }
    if (status_ == created && binding_ != locks::LeaseBinding::stream && untold_)
        owners_.connection.send(
            name_, grant(), owners_.stream, binding_ == locks::LeaseBinding::connection);
    untold_ = false;
    if (streams())
        return begin_stream(to);
    http::make_reply(
        to, {}, status_, "application/json",
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

// Begins the server-sent events of the HTML standard (section 9.2).
void LockOperation::begin_stream(http::Response& to) const {
    to.begin(201, "text/event-stream");
    to.set_no_store();
    to.set_content(http::Response::Content::begun);
    to.body() << "event: granted\ndata: ";
    write_grant(to.body());
    to.body() << "\n\n";
}

bool LockOperation::write_more(http::HeadBuffer& out) {
    now_ = net::read_clocks();
    if (const auto alive = shared_.locks.look(grant().id, now_)) {
        out << "event: alive\ndata: {\"expires_in_ms\":"
            << milliseconds_down(alive->expires - now_.steady) << "}\n\n";
        return true;
    }
    out << "event: lost\ndata: {\"reason\":\"" << word(shared_.locks.why(grant().id)) << "\"}\n\n";
    return false;
}

void LockOperation::refuse_busy(http::Response& to) const {
    const bool is_busy = status_ == 409;
    const Duration wait = std::max<Duration>(retry_after_, std::chrono::milliseconds{1});
    http::make_reply(
        to, {}, status_, "application/problem+json",
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
                             << "who held it before the start is not known. So it is after a "
                             << "reload that has changed where it is shared.";
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

void make_no_lock(http::Response& to, std::string_view lock, std::string_view detail) {
    http::make_reply(
        to, {}, 404, "application/problem+json", [](http::HeadBuffer&) {},
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
