// What a limit that refuses makes of a request.
#include "limits/limit.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {
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

} // namespace

void Exchange::refuse(const routing::Charges& charges, const limits::Decision& decision) {
    const routing::RouteLimit& limit = *charges.limits[decision.refused_by];
    const routing::RefusalAnswer& answer = limit.answer;
    if (!limit.key.empty())
        config_->heavy_hitters[limit.index]->refuse(charges.charges[decision.refused_by].key);
    ++context_.counters.refusals[limit.refusal_metric];
    context_.recent.end(
        recent_, RecentRequests::Kind::refused, limit.refusal_metric, decision.retry_after);
    limited_.limit = limit.limit->identity().name;
    limited_.retry_after = decision.retry_after;
    if (answer.jitter > Duration::zero())
        limited_.retry_after =
            http::with_jitter(decision.retry_after, answer.jitter, context_.request_ids.next());
    for (std::size_t i = 0; i < charges.limits.size(); ++i)
        if (i != decision.refused_by && (decision.refusing >> i & 1U) != 0)
            also_refusing_.push_back(charges.limits[i]->limit->identity().name);
    limited_.others = {also_refusing_.data(), also_refusing_.size()};
    limited_.why = reason_for(decision.refusal);
    limited_.status = answer.status;
    limited_.content_type = answer.content_type;
    limited_.body = answer.body;
    fail(answer.status, {}, observe::Outcome::refused);
}

// Not a matter of how often: to come back later would not help.
void Exchange::deny(const routing::RouteLimit& limit, routing::Denial denial) {
    ++context_.counters.denied[limit.refusal_metric];
    context_.recent.end(recent_, RecentRequests::Kind::denied, limit.refusal_metric, {});
    limited_.limit = limit.limit->identity().name;
    denied_ = true;
    fail(403, routing::describe(limit, denial), observe::Outcome::refused);
}

} // namespace stint::proxy
