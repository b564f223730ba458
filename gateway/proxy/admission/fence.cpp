// Fencing numbers of locks, which the writes of some routes have to show.
#include "http/head_parser.hpp"
#include "limits/limit.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

// Checks the fencing number before anything is charged: one that is wrong now is still wrong after
// every wait. One that is right may not stay so, see may_send().
bool Exchange::check_fencing_token(const RequestHead& head) {
    fence_ = routing::ShownFence{head.method, head.fields};
    const auto fault = fence_.against(*route_->fence);
    if (fault == routing::ShownFence::Fault::none) [[likely]]
        return true;
    recent_ = context_.recent.begin(request_id_, begun_.wall, route_->metric);
    reject_fencing_token(fault);
    return false;
}

bool Exchange::fence_holds() {
    const auto fault = fence_.against(*route_->fence);
    if (fault == routing::ShownFence::Fault::none) [[likely]]
        return true;
    if (route_->limits.empty())
        recent_ = context_.recent.begin(request_id_, begun_.wall, route_->metric);
    reject_fencing_token(fault);
    next_ = Next::reply;
    return false;
}

void Exchange::reject_fencing_token(routing::ShownFence::Fault fault) {
    ++context_.counters.fenced_off[route_->fence_metric];
    context_.recent.end(recent_, RecentRequests::Kind::denied, route_->fence_metric, {});
    reply_.reject_fencing_token(*route_->fence, fault);
    end_as(412, observe::Outcome::refused);
}

} // namespace stint::proxy
