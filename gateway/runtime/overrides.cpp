// Overrides that change while traffic flows: each change is a snapshot of the same configuration.
#include "net/clock.hpp"
#include "runtime/gateway.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace stint::runtime {

bool Gateway::put_override(const std::string& limit, LiveOverride override) {
    if (!overrides_.put(limit, std::move(override)))
        return false;
    spdlog::info("limit {}: an override was set", limit); // a key may be a secret: it is not logged
    publish_overrides();
    return true;
}

bool Gateway::erase_override(const std::string& limit, std::string_view pattern) {
    if (!overrides_.erase(limit, pattern))
        return false;
    spdlog::info("limit {}: an override was deleted", limit);
    publish_overrides();
    return true;
}

void Gateway::publish_overrides() {
    apply(
        config_, compile(config_, registry_, slots_, generation_, overrides_, tls_, &endpoints_),
        {});
    await_end_of_override();
}

void Gateway::await_end_of_override() {
    const auto end = overrides_.next_end();
    if (!end) {
        override_timer_.cancel();
        return;
    }
    override_timer_.expires_at(*end);
    override_timer_.async_wait([this](const ErrorCode& error) {
        if (error || stopping_)
            return;
        if (overrides_.expire(net::read_steady_clock()))
            publish_overrides();
        else
            await_end_of_override();
    });
}

// Numbers meant for another kind of limit, or for keys that are spelt otherwise, mean nothing now.
void Gateway::forget_overrides(const Compiled& next, std::vector<std::string>& notes) {
    for (const ConfiguredLimit& former : compiled_.limits) {
        const std::string& name = former.limit->identity().name;
        const auto stays = [&](const ConfiguredLimit& each) { return each.limit == former.limit; };
        if (overrides_.of(name).empty() || std::ranges::any_of(next.limits, stays))
            continue;
        for (const LiveOverride& each : overrides_.of(name))
            (void)overrides_.erase(name, each.pattern);
        notes.push_back("limit " + name + ": its overrides that were set at run time have ended");
    }
}

} // namespace stint::runtime
