// One route as a worker sees it: what it matches, what it charges, where it leads.
#pragma once

#include "base/fixed_answer.hpp"
#include "base/regex.hpp"
#include "base/time.hpp"
#include "limits/cooldown/cooldown_set.hpp"
#include "limits/limit.hpp"
#include "routing/key_rules.hpp"
#include "routing/key_template.hpp"
#include "routing/pricing.hpp"
#include "routing/retry_rules.hpp"
#include "routing/route_shape.hpp"

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
    std::string text; // lower case; for suffix without "*", e.g. ".example.org"
};

struct PathPattern {
    enum class Kind : std::uint8_t { prefix, regex, exact }; // from the least to the most specific
    Kind kind = Kind::prefix;
    std::string text =
        "/"; // a prefix matches on segment boundaries: /a matches /a and /a/b, not /ab
    std::optional<Regex> regex{}; // of the whole path, for Kind::regex
};

struct RouteMatch {
    HostPattern host;
    PathPattern path;
    std::vector<std::string> methods; // upper case; empty = any but TRACE
};

// What a client is told when a limit refuses it.
struct RefusalAnswer {
    int status = 429;
    std::string content_type; // empty: no own body
    std::string body;         // with base/placeholders.hpp
    Duration jitter{};        // added to Retry-After at most
};

// How responses tell of a route's limits; which do is each RouteLimit's.
struct RateLimitHeaderSettings {
    bool any = false;               // whether any limit of the route is told at all
    bool legacy_unprefixed = false; // RateLimit-Limit instead of X-RateLimit-Limit
    bool legacy_epoch = false;      // Reset in Unix time instead of seconds from now
};

// What becomes of a request that has no key, or one that cannot be read.
enum class MissingKey : std::uint8_t {
    share,  // it counts in the one counter that all such requests have
    exempt, // the limit does not concern it
    refuse  // 403
};

// when_exceeded: wait.
struct WaitSettings {
    Duration max_wait{};
    std::uint64_t max_waiting = 0; // before one counter
    KeyTemplate fair_by;
    std::uint32_t metric = 0; // slot in the workers' counters
};

struct RouteLimit {
    limits::LimitPtr limit;
    std::uint32_t index = 0; // into Snapshot::limits
    std::uint64_t quota = 0;
    KeyTemplate key;
    MissingKey missing_key = MissingKey::share;
    KeyRulesPtr rules;                // nullptr: no exceptions
    std::uint32_t refusal_metric = 0; // slot in the workers' counters
    bool told_in_draft = false;       // in RateLimit and RateLimit-Policy
    bool told_in_legacy = false;      // in X-RateLimit-Limit and the like
    RefusalAnswer answer;
    std::optional<WaitSettings> wait{};
    KeyTemplate reserve_for; // retry_after: reserve, and enforced; empty: it does not
    std::uint64_t burst = 0; // of a token bucket; 0 = the quota
    bool pace = false;
    bool enforce = true;      // false: it counts and refuses nothing
    bool holds_tunnel = true; // a cap's slot is held as long as a tunnel lives
    Pricing pricing;

    // What a request with this key is charged, unless a field of it tells another cost.
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

// Where the route's requests wait when their upstream has asked for a pause.
struct RouteCooldown {
    limits::CooldownSetPtr set; // null: they do not
    limits::CooldownRules rules;
    bool by_host = false;  // a pause for each host that requests name
    KeyTemplate key;       // a pause for each key, where it is not empty
    std::string otherwise; // what names the one pause that there is else
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
    std::uint32_t upstream = 0;     // index into Snapshot::upstreams, unless there is an `answer`
    std::vector<RouteLimit> limits; // in rising order of limit->ordinal(), as admit() needs them
    bool settles = false;           // what a limit of it was charged may be given back
    bool waits = false;             // one of them, at least
    bool reserves = false;          // one of them, at least
    bool sends_proxy_protocol = false; // connections to its upstream begin with a PROXY header
    RouteTimeouts timeouts;
    RouteShapePtr shape;
    limits::LimitPtr fence;                    // require_fence: the lock; nullptr: none
    std::uint32_t fence_metric = 0;            // slot in the workers' counters, of its refusals
    std::shared_ptr<const FixedAnswer> answer; // null: the upstream's
    std::vector<std::string> upgrades;         // protocols that clients may switch to, lower case
    RateLimitHeaderSettings telling;
    RouteCooldown cooldown;
    RetryRules retry;
    std::uint64_t max_body = std::numeric_limits<std::uint64_t>::max(); // bytes of a request's
    std::uint32_t metric = 0; // slot in the workers' counters
};

} // namespace stint::routing
