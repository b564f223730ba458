// One route as a worker sees it: its match, its limits, its upstream.
#pragma once

#include "base/fixed_answer.hpp"
#include "base/regex.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/limit.hpp"
#include "limits/shared/shared_terms.hpp"
#include "routing/key_rules.hpp"
#include "routing/key_template.hpp"
#include "routing/pricing.hpp"
#include "routing/retry_rules.hpp"
#include "routing/route_shape.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stint::routing {

struct HostPattern {
    enum class Kind : std::uint8_t { any, suffix, exact }; // from the least to the most specific
    Kind kind = Kind::any;
    std::string text; // lower case; a suffix without its "*", e.g. ".example.org"
};

struct PathPattern {
    enum class Kind : std::uint8_t { prefix, regex, exact }; // from the least to the most specific
    Kind kind = Kind::prefix;
    std::string text =
        "/"; // a prefix matches on segment boundaries: /a matches /a and /a/b, not /ab
    std::optional<Regex> regex{}; // for Kind::regex; matches the whole path
};

struct RouteMatch {
    HostPattern host;
    PathPattern path;
    std::vector<std::string> methods; // upper case; empty = any but TRACE
};

// The response to a client that a limit refuses.
struct RefusalAnswer {
    int status = 429;
    std::string content_type; // empty: the default body
    std::string body;         // may contain placeholders (base/placeholders.hpp)
    Duration jitter{};        // the most that is added to Retry-After
};

// The form of the rate-limit fields in responses. RouteLimit::told_in_draft and told_in_legacy say
// which limits the fields show.
struct RateLimitHeaderSettings {
    bool any = false;               // at least one limit of the route is shown
    bool legacy_unprefixed = false; // RateLimit-Limit instead of X-RateLimit-Limit
    bool legacy_epoch = false;      // the reset is in Unix time instead of seconds from now
};

// The action of a limit on a request whose key is missing or malformed.
enum class MissingKey : std::uint8_t {
    share,  // all such requests share one counter
    exempt, // the limit does not apply to the request
    refuse, // the request is refused with 403
    partial // as exempt; the key is missing only if all its parts are (MissingPart::empty)
};

// The settings of when_exceeded: wait.
struct WaitSettings {
    Duration max_wait{};
    std::uint64_t max_waiting = 0; // per counter
    KeyTemplate fair_by;
    std::uint32_t metric = 0; // slot in the workers' counters
};

// The settings of a limit, with the changes that operators have made. All routes that have the
// limit share them, and so do callers of permits. A change replaces them in the next snapshot.
struct LimitTerms {
    limits::LimitPtr limit;
    std::uint64_t quota = 0;
    KeyTemplate key;
    MissingKey missing_key = MissingKey::share;
    KeyRulesPtr rules; // exempt, deny and overrides; nullptr: none
    RefusalAnswer answer;
    std::optional<WaitSettings> wait{}; // nullopt: no request waits; also with enforce: false
    Duration dry_run_wait{}; // dry run of a limit that lets requests wait: its max_wait; else zero
    KeyTemplate reserve_for; // key of the slot's owner, with retry_after: reserve; empty: no slots
    std::uint64_t burst = 0; // capacity of a token bucket; 0 = the quota
    bool pace = false;
    bool enforce = true;      // false: dry run, counts and refuses nothing
    bool holds_tunnel = true; // for a cap: a slot is held for the whole life of a tunnel
    std::optional<limits::SharedTerms> shared{}; // set if gateways count the limit together
    Pricing pricing;

    // Returns the charge for a request with this key, unless a field of the request sets another
    // cost.
    [[nodiscard]] limits::Charge charge(Hash128 of) const noexcept {
        return {
            .limit = limit.get(),
            .key = of,
            .quota = quota,
            .burst = burst,
            .cost = pricing.cost,
            .enforce = enforce,
            .pace = pace,
            .refundable = pricing.refundable(),
            .release_on_upgrade = !holds_tunnel};
    }
};
using LimitTermsPtr = std::shared_ptr<const LimitTerms>;

// The settings of a limit that belong to a route, or to the callers of permits.
struct RouteLimit {
    std::uint32_t index = 0;          // index into Snapshot::limits
    std::uint32_t refusal_metric = 0; // slot in the workers' counters
    std::uint16_t status = 0;         // status of refusals; 0: RefusalAnswer::status
    bool told_in_draft = false;       // shown in RateLimit and RateLimit-Policy
    bool told_in_legacy = false;      // shown in X-RateLimit-Limit and the like
};

// A limit that applies to a request. Points into the request's snapshot.
struct AppliedLimit {
    const LimitTerms* terms = nullptr;
    const RouteLimit* on_route = nullptr;

    [[nodiscard]] const LimitTerms* operator->() const noexcept { return terms; }
    [[nodiscard]] int refusal_status() const noexcept {
        return on_route->status != 0 ? on_route->status : terms->answer.status;
    }
    friend bool operator==(const AppliedLimit&, const AppliedLimit&) = default;
};

// The route's cool-down: refuses requests, or lets them wait, while their upstream has asked for a
// pause.
struct RouteCooldown {
    limits::CooldownSetPtr set; // null: the route has no cool-down
    limits::CooldownRules rules;
    bool by_host = false;  // each requested host has a pause of its own
    KeyTemplate key;       // if not empty, each key has a pause of its own
    std::string otherwise; // name of the route's only pause, if neither by_host nor key is set
};

struct RouteTimeouts {
    Duration body_idle{};
    Duration connect{};
    Duration response{};
    Duration tunnel_idle{};
};

struct Route {
    std::string name;
    RouteMatch match;
    std::uint32_t upstream = 0;        // index into Snapshot::upstreams; unused with an `answer`
    std::vector<RouteLimit> limits;    // ordered by rising Limit::ordinal(), as admit() needs them
    bool settles = false;              // at least one limit may refund a charge
    bool may_wait = false;             // at least one limit lets requests wait while it is enforced
    bool may_reserve = false;          // at least one limit reserves slots while it is enforced
    bool sends_proxy_protocol = false; // connections to its upstream begin with a PROXY header
    RouteTimeouts timeouts;
    RouteShapePtr shape;
    limits::LimitPtr fence;                    // require_fence: the lock; nullptr: none
    std::uint32_t fence_metric = 0;            // slot in the workers' counters, for its refusals
    std::shared_ptr<const FixedAnswer> answer; // the route's own response; null: it forwards
    std::vector<std::string> upgrades;         // protocols that clients may switch to, lower case
    RateLimitHeaderSettings telling;
    RouteCooldown cooldown;
    RetryRules retry;
    std::uint64_t max_body = std::numeric_limits<std::uint64_t>::max(); // bytes of a request
    std::uint32_t metric = 0; // slot in the workers' counters
};

// True if the route has an upstream, and lets clients switch to WebSocket.
[[nodiscard]] inline bool takes_websockets(const Route& route) {
    return route.answer == nullptr &&
           std::ranges::find(route.upgrades, "websocket") != route.upgrades.end();
}

} // namespace stint::routing
