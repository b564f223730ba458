#include "admin/limit_changes.hpp"

#include "admin/change_body.hpp"
#include "admin/named_limit.hpp"
#include "admin/overlay.hpp"
#include "config/values/networks.hpp"
#include "http/query.hpp"
#include "runtime/enforced_pairs.hpp"
#include "runtime/limit_changes.hpp"

#include <optional>
#include <utility>

namespace stint::admin {
namespace {

using runtime::LimitChange;
using Kind = LimitChange::Kind;

constexpr std::string_view block_example =
    "The body must be a JSON object such as {\"key\": \"k\", \"for\": \"1h\", \"why\": \"…\"}.";
constexpr std::string_view enforce_example =
    "The body must be a JSON object such as {\"enforce\": false, \"for\": \"1h\"}.";

Response too_many() {
    return problem(
        409, "There are " + std::to_string(runtime::LimitChanges::most) +
                 " changes already: end some first.");
}

// Returns the target of a block: exactly one of "key" and "client".
Result<LimitChange::Target, Response> blocked_in(ChangeBody& body, const NamedLimit& limit) {
    const std::string key = body.text("key");
    const std::string client = body.text("client");
    if (key.empty() == client.empty())
        body.wrong("the body must have either \"key\" or \"client\"");
    if (auto error = body.error())
        return std::move(*error);
    LimitChange::Target target{limit.settings.name, Kind::block_key, {}};
    if (!client.empty()) {
        const auto network = config::parse_network(client);
        if (!network)
            return problem(400, "\"client\": " + network.error().why + ".");
        target.kind = Kind::block_client;
        target.key = std::string{IpText{*network}.view()};
        return target;
    }
    auto canonical = key_or_pattern(limit, key);
    if (!canonical)
        return std::move(canonical).error();
    target.key = std::move(*canonical);
    return target;
}

// Reads the end, the attribution and the time of a change that must end.
void read_terms(ChangeBody& body, LimitChange& change, const Now& now) {
    change.since = now.wall;
    change.expires = body.end(now);
    change.by = body.attribution();
    if (!change.expires)
        body.wrong("\"for\" is missing: the change must end, at most after \"366d\"");
}

// Makes the change. Returns it as GET /changes shows it, or 409 if there are too many changes.
Response made(runtime::Gateway& gateway, LimitChange change, const config::Limit& limit) {
    const Json shown = change_json(change, limit, gateway.now());
    return gateway.changes().put(std::move(change)) ? json_response(shown) : too_many();
}

// Returns a 409 response if enforcing the limit would enforce two limits of a route that may not
// both be enforced (enforced_pairs.hpp); else nullopt.
std::optional<Response> refuse_pair(const runtime::Gateway& gateway, const NamedLimit& limit) {
    const config::Config& config = gateway.config();
    auto enforced = runtime::enforced_limits(config, gateway.changes().overlay().limits());
    enforced[limit.index] = true;
    const auto pairs = runtime::enforced_pairs(config, enforced);
    if (pairs.empty())
        return std::nullopt;
    return problem(409, runtime::reason_of(pairs.front(), config) + ".");
}

} // namespace

Response block(runtime::Gateway& gateway, const std::string& name, std::string_view body) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    auto object = object_in(body, block_example);
    if (!object)
        return std::move(object).error();
    ChangeBody read{*object, {"key", "client", "for", "expires_in_ms"}};
    auto target = blocked_in(read, *limit);
    if (!target)
        return std::move(target).error();
    LimitChange change{.target = std::move(*target)};
    read_terms(read, change, gateway.now());
    if (auto error = read.error())
        return std::move(*error);
    return made(gateway, std::move(change), limit->settings);
}

Response unblock(runtime::Gateway& gateway, const std::string& name, std::string_view body) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    auto object = object_in(body, block_example);
    if (!object)
        return std::move(object).error();
    ChangeBody read{*object, {"key", "client"}};
    const runtime::Attribution by = read.attribution();
    const auto target = blocked_in(read, *limit);
    if (!target)
        return target.error();
    if (!gateway.changes().erase(*target, by))
        return problem(404, "The limit " + name + " has no such block that was set at run time.");
    const char* const member = target->kind == Kind::block_key ? "key" : "client";
    return json_response({{"limit", name}, {member, target->key}, {"blocked", false}});
}

Response switch_enforce(runtime::Gateway& gateway, const std::string& name, std::string_view body) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    if (limit->settings.lock)
        return problem(400, "A lock is always enforced.");
    auto object = object_in(body, enforce_example);
    if (!object)
        return std::move(object).error();
    ChangeBody read{*object, {"enforce", "for", "expires_in_ms"}};
    LimitChange change{.target = {name, Kind::enforce, {}}};
    const std::optional<bool> enforce = read.flag("enforce");
    if (!enforce)
        read.wrong("\"enforce\" is missing");
    change.enforce = enforce.value_or(true);
    read_terms(read, change, gateway.now());
    if (auto error = read.error())
        return std::move(*error);
    if (change.enforce)
        if (auto refused = refuse_pair(gateway, *limit))
            return std::move(*refused);
    return made(gateway, std::move(change), limit->settings);
}

Response end_switch(runtime::Gateway& gateway, const std::string& name, std::string_view query) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    const auto by = attribution_in(query);
    if (!by)
        return by.error();
    if (!gateway.changes().erase({name, Kind::enforce, {}}, *by))
        return problem(404, "`enforce` of " + name + " was not switched at run time.");
    return json_response({{"limit", name}, {"enforce", limit->settings.enforce}});
}

Response
clear_counters(runtime::Gateway& gateway, const std::string& name, std::string_view query) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    const auto by = attribution_in(query, "key");
    if (!by)
        return by.error();
    if (limit->settings.kind == config::Limit::Kind::cap)
        return problem(
            409, "The limit " + name + " counts what is in flight now: it falls when that ends.");
    std::optional<runtime::OperatorChanges::Key> key;
    if (const auto asked = http::parameter(query, "key")) {
        const auto text = http::percent_decoded(*asked);
        if (!text)
            return problem(400, "The query has a malformed percent-escape.");
        auto canonical = canonical_key(*limit, *text);
        if (!canonical)
            return std::move(canonical).error();
        const auto hash = limit->limit.key.hash_of(*canonical, gateway.hasher());
        key = {std::move(*canonical), hash.value_or(Hash128{})};
    }
    if (!gateway.changes().clear_counters(limit->limit, key, *by))
        return problem(
            409, "The key had no room in the table of " + name +
                     ": it shares a counter with others, which ends with its window.");
    Json json{{"limit", name}, {"cleared", true}};
    if (key)
        json["key"] = key->text;
    return json_response(json);
}

} // namespace stint::admin
