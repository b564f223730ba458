#include "runtime/compile_balance.hpp"

#include "runtime/compile_limit.hpp"

#include <memory>

namespace stint::runtime {
namespace {

routing::Balance how_of(config::LoadBalance::How how) {
    switch (how) {
    case config::LoadBalance::How::round_robin:
        return routing::Balance::round_robin;
    case config::LoadBalance::How::least_requests:
        return routing::Balance::least_requests;
    case config::LoadBalance::How::hash:
        break;
    }
    return routing::Balance::hash;
}

} // namespace

routing::BalanceSpec balance_of(
    const config::Upstream& upstream,
    const config::AddressPrefixes& prefixes,
    upstream::EndpointRegistry* endpoints) {
    const config::LoadBalance& load = upstream.load;
    routing::BalanceSpec spec;
    spec.how = how_of(load.how);
    if (spec.how == routing::Balance::hash)
        spec.hash_key = key_of(upstream.hash_key, prefixes);
    spec.slow_start = load.slow_start;
    if (load.ejection)
        spec.ejection = {load.ejection->failures, load.ejection->first, load.ejection->most};
    spec.fail_open = load.fail_open;
    spec.max_waiting = load.queue.max_waiting;
    spec.max_wait = load.queue.max_wait;
    spec.group = endpoints != nullptr ? endpoints->group(upstream.name)
                                      : std::make_shared<upstream::EndpointGroup>();
    return spec;
}

routing::RetryRules retry_of(const config::Upstream& upstream, const config::Route& route) {
    const std::optional<config::Retry>& from = route.retry ? route.retry : upstream.retry;
    if (!from || !from->on)
        return {};
    routing::RetryRules rules;
    rules.attempts = from->attempts;
    rules.on_connect = from->connect;
    rules.on_reset = from->reset;
    for (const std::uint16_t status : from->statuses)
        rules.add_status(status);
    rules.methods = from->methods;
    rules.budget = from->budget;
    return rules;
}

} // namespace stint::runtime
