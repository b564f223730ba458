#include "permits/feedback.hpp"

#include "http/reply_writer.hpp"
#include "http/retry_after.hpp"
#include "http/target.hpp"
#include "net/clock.hpp"
#include "routing/snapshot.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <variant>

namespace stint::permits {
namespace {

// The result of a report: an error text if no pause can begin, else the length of the pause.
using Outcome = std::variant<std::string, Duration>;

std::optional<Duration> told_wait(const FeedbackRequest& ask, WallTime now) {
    if (!ask.retry_after)
        return std::nullopt;
    const std::array fields{Field{FieldId::other, "Retry-After", *ask.retry_after}};
    return http::parse_retry_after(fields, now);
}

const routing::Route* find_route(const routing::Snapshot& snapshot, std::string_view name) {
    const auto& routes = snapshot.routes.routes();
    const auto found = std::ranges::find(routes, name, &routing::Route::name);
    return found == routes.end() ? nullptr : &*found;
}

Outcome pause_route(const proxy::Context& context, const FeedbackRequest& ask, const Now& now) {
    const routing::Route* const route = find_route(*context.active->snapshot, ask.route);
    if (route == nullptr)
        return "there is no route " + std::string{ask.route};
    const routing::RouteCooldown& cooldown = route->cooldown;
    if (!cooldown.set)
        return "the route " + route->name + " has no cooldown";
    std::string_view of = cooldown.otherwise;
    std::string scratch;
    std::optional<Hash128> hash;
    std::string canonical; // the same in all gateways
    if (!cooldown.key.empty()) {
        if (!ask.key)
            return "the route " + route->name + " pauses by " + cooldown.key.text() +
                   "; expected a \"key\"";
        of = *ask.key;
        hash = cooldown.key.hash_of(of, context.shared().hasher);
        if (!hash)
            return std::string{"the \"key\" is no address"};
        canonical = cooldown.key.canonical(of).value_or(std::string{});
        of = canonical;
    } else if (cooldown.by_host) {
        if (!ask.host)
            return "the route " + route->name + " pauses by host; expected a \"host\"";
        of = http::normalise_host(*ask.host, scratch);
    }
    const limits::CooldownPtr scope =
        cooldown.set->of(hash.value_or(context.shared().hasher(of)), of, now.steady);
    return scope->told({ask.status, told_wait(ask, now.wall)}, now.steady, cooldown.rules);
}

Outcome pause_limit(
    const proxy::Context& context, Shared& shared, const FeedbackRequest& ask, const Now& now) {
    const routing::PermitTerms& terms = *context.active->snapshot->permits;
    DynamicLimitPtr brought;
    const routing::LimitTerms* limit = nullptr;
    if (const auto* const index = routing::find_text(terms.by_name, ask.limit)) {
        limit = context.active->snapshot->limits[*index].get();
    } else {
        auto found = shared.dynamic.obtain(ask.limit, std::nullopt, 0, 0, now.steady);
        if (auto* const known = std::get_if<DynamicLimitPtr>(&found))
            brought = *known;
        limit = brought != nullptr ? brought->terms.get() : nullptr;
    }
    if (limit == nullptr)
        return "there is no limit " + std::string{ask.limit};
    if (!limit->key.empty() && !ask.key && !brought)
        return "the limit " + std::string{ask.limit} + " counts by " + limit->key.text() +
               "; expected a \"key\"";
    const auto key = limit->key.hash_of(ask.key.value_or(""), context.shared().hasher);
    if (!key)
        return std::string{"the \"key\" is no address"};
    const auto wait = told_wait(ask, now.wall);
    if (!wait)
        return Duration{};
    return shared.reported_cooldowns.begin(
        {limit->limit->ordinal(), *key}, ask.status, *wait, now.steady);
}

} // namespace

void take_feedback(
    proxy::Context& context, Shared& shared, const FeedbackRequest& ask, http::Response& to) {
    const Now now = net::read_clocks();
    const bool asks_for_pause = ask.status == 429 || ask.status == 503;
    Outcome outcome = Duration{};
    if (asks_for_pause)
        outcome = ask.route.empty() ? pause_limit(context, shared, ask, now)
                                    : pause_route(context, ask, now);
    if (const auto* const why = std::get_if<std::string>(&outcome)) {
        http::make_problem(to, {}, why->starts_with("there is no") ? 404 : 400, *why);
        return;
    }
    const Duration left = std::max(std::get<Duration>(outcome), Duration::zero());
    http::make_reply(
        to, {}, 200, "application/json", [](http::HeadBuffer&) {},
        [&](auto& sink) {
            sink << R"({"paused":)" << (left > Duration::zero() ? "true" : "false")
                 << R"(,"paused_ms":)" << static_cast<std::uint64_t>(ceil_ms(left)) << "}\n";
        });
}

} // namespace stint::permits
