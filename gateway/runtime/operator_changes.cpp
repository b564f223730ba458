#include "runtime/operator_changes.hpp"

#include "base/error.hpp"
#include "http/permit_text.hpp"
#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace stint::runtime {

OperatorChanges::OperatorChanges(
    boost::asio::io_context& control, locks::LockManager& locks, std::function<void()> publish)
    : locks_{locks}, publish_{std::move(publish)}, next_end_{control} {}

bool OperatorChanges::put_override(const std::string& limit, LiveOverride override) {
    if (!overlay_.overrides().put(limit, std::move(override)))
        return false;
    // The key is not logged, because it may be a secret.
    spdlog::info("limit {}: an override was set", limit);
    publish_overrides();
    return true;
}

bool OperatorChanges::erase_override(const std::string& limit, std::string_view pattern) {
    if (!overlay_.overrides().erase(limit, pattern))
        return false;
    spdlog::info("limit {}: an override was deleted", limit);
    publish_overrides();
    return true;
}

void OperatorChanges::publish_overrides() {
    publish_();
    await_end_of_override();
}

void OperatorChanges::await_end_of_override() {
    const auto end = overlay_.overrides().next_end();
    if (!end || stopped_) {
        next_end_.cancel();
        return;
    }
    next_end_.expires_at(*end);
    next_end_.async_wait([this](const ErrorCode& error) {
        if (error || stopped_)
            return;
        if (overlay_.overrides().expire(net::read_steady_clock()))
            publish_overrides();
        else
            await_end_of_override();
    });
}

upstream::EndpointStatePtr OperatorChanges::set_drained(
    const routing::UpstreamSpec& upstream, std::string_view endpoint, bool drained) {
    const auto found =
        std::ranges::find(upstream.endpoints, endpoint, &routing::EndpointSpec::text);
    if (found == upstream.endpoints.end())
        return nullptr;
    const Now now = net::read_clocks();
    if (drained)
        overlay_.drain(upstream.name, found->state, now);
    else
        overlay_.enable(upstream.name, found->state, now);
    spdlog::info(
        "upstream {}: {} was {} by an operator", upstream.name, found->text,
        drained ? "drained" : "enabled");
    return found->state;
}

bool OperatorChanges::end_lease(std::string_view lock, std::string_view lease) {
    const Now now = net::read_clocks();
    const auto id = http::parse_lease(lease);
    if (!id || !locks_.end(lock, *id, locks::EndReason::forced, now))
        return false;
    overlay_.note_ended({std::string{lock}, std::string{lease}, now.wall});
    return true;
}

void OperatorChanges::stop() noexcept {
    stopped_ = true;
    next_end_.cancel();
}

} // namespace stint::runtime
