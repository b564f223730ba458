#include "admission/local_reply.hpp"

#include "base/lock_names.hpp"
#include "limits/limit.hpp"

#include <bit>
#include <utility>

namespace stint::admission {
namespace {

http::LimitedReply::Why reason_for(limits::Refusal refusal) noexcept {
    using Why = http::LimitedReply::Why;
    switch (refusal) {
    case limits::Refusal::none:
    case limits::Refusal::window:
        break;
    case limits::Refusal::pace:
        return Why::pace;
    case limits::Refusal::cap:
        return Why::cap;
    case limits::Refusal::cost:
        return Why::cost;
    case limits::Refusal::table_full:
        return Why::table_full;
    }
    return Why::window;
}

// Returns the text that explains an upstream's failure to the client, without any endpoint.
std::string_view describe_failure(int status) noexcept {
    switch (status) {
    case 503:
        return "the upstream cannot take this request now; the gateway's log says why, under this "
               "X-Request-Id";
    case 504:
        return "the upstream did not answer in time; the gateway's log says more, under this "
               "X-Request-Id";
    default:
        return "the upstream could not be reached, or gave no valid answer; the gateway's log says "
               "more, under this X-Request-Id";
    }
}

} // namespace

void LocalReply::explain(std::string detail) {
    kind_ = Kind::problem;
    blames_upstream_ = false;
    detail_ = std::move(detail);
}

void LocalReply::blame_upstream(std::string why) {
    kind_ = Kind::problem;
    blames_upstream_ = true;
    detail_ = std::move(why);
}

void LocalReply::refuse_method(std::string allowed) {
    kind_ = Kind::method;
    allowed_ = std::move(allowed);
}

void LocalReply::answer_options(std::string allowed) {
    kind_ = Kind::options;
    allowed_ = std::move(allowed);
}

void LocalReply::refuse(
    const routing::Charges& charges, const limits::Decision& decision, Duration retry_after) {
    const routing::AppliedLimit limit = charges.limits[decision.refused_by];
    kind_ = Kind::limit;
    also_refusing_.reserve(static_cast<std::size_t>(std::popcount(decision.refusing)));
    for (std::size_t i = 0; i < charges.limits.size(); ++i)
        if (i != decision.refused_by && (decision.refusing >> i & 1U) != 0)
            also_refusing_.push_back(charges.limits[i]->limit->identity().name);
    limited_.limit = limit->limit->identity().name;
    limited_.retry_after = retry_after;
    limited_.why = reason_for(decision.refusal);
    limited_.status = limit.refusal_status();
    limited_.content_type = limit->answer.content_type;
    limited_.body = limit->answer.body;
    limited_.ticket = ticket_;
    limited_.others = {also_refusing_.data(), also_refusing_.size()};
}

void LocalReply::use_default_body() noexcept {
    limited_.status = 429;
    limited_.content_type = {};
}

void LocalReply::add_ticket(const http::SlotName& slot, const KeyHasher& seals) {
    http::add_ticket(ticket_, slot, seals);
}

void LocalReply::deny(routing::AppliedLimit limit, routing::Denial denial) {
    kind_ = Kind::denial;
    limited_.limit = limit->limit->identity().name;
    detail_ = routing::describe(*limit.terms, denial);
}

void LocalReply::reject_fencing_token(const limits::Limit& lock, routing::ShownFence::Fault fault) {
    kind_ = Kind::fence;
    limited_.limit = lock.identity().name;
    detail_ = routing::describe(fault);
}

void LocalReply::pause(const http::PausedReply& reply) {
    kind_ = Kind::pause;
    paused_ = reply;
}

void LocalReply::blame_store(routing::AppliedLimit limit, Duration retry_after) {
    limited_.limit = limit->limit->identity().name;
    explain(
        "the gateways that share the limit " + std::string{limited_.limit} +
        " cannot count it now");
    set_retry_after(retry_after);
}

void LocalReply::set_retry_after(Duration retry_after) {
    kind_ = Kind::unavailable;
    retry_after_ = retry_after;
}

std::optional<Duration> LocalReply::retry_after() const noexcept {
    switch (kind_) {
    case Kind::limit:
        return limited_.why == http::LimitedReply::Why::cost ? std::nullopt
                                                             : std::optional{limited_.retry_after};
    case Kind::pause:
        return paused_.retry_after;
    case Kind::unavailable:
        return retry_after_;
    default:
        return std::nullopt;
    }
}

void LocalReply::make(http::Response& to, http::ReplyContext context, int status) const {
    context.media = media_.value_or(http::MediaType::problem_json);
    switch (kind_) {
    case Kind::problem:
        http::make_problem(
            to, context, status,
            blames_upstream_ ? describe_failure(status) : std::string_view{detail_});
        return;
    case Kind::unavailable:
        http::make_unavailable(
            to, context,
            blames_upstream_ ? std::string_view{"the upstream cannot take it (the gateway's log "
                                                "says why, under this X-Request-Id)"}
                             : std::string_view{detail_},
            retry_after_);
        return;
    case Kind::method:
        http::make_method_not_allowed(to, context, allowed_);
        return;
    case Kind::options:
        http::make_options(to, context, allowed_);
        return;
    case Kind::limit:
        http::make_limited(to, context, limited_);
        return;
    case Kind::denial:
        http::make_denied(to, context, limited_.limit, detail_);
        return;
    case Kind::fence:
        http::make_fenced_off(to, context, lock_name(limited_.limit), detail_);
        return;
    case Kind::pause:
        http::make_paused(to, context, paused_);
        return;
    }
}

} // namespace stint::admission
