#include "admin/limit_changes.hpp"

#include "admin/change_body.hpp"
#include "admin/overlay.hpp"
#include "config/values/networks.hpp"
#include "http/query.hpp"

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
    auto canonical = key_of(limit, key);
    if (!canonical)
        return std::move(canonical).error();
    target.key = std::move(*canonical);
    return target;
}

// A change that is made, as GET /changes shows it.
Response made(runtime::Gateway& gateway, LimitChange change, const config::Limit& limit) {
    const Json shown = change_json(change, limit, gateway.now());
    return gateway.changes().put(std::move(change)) ? json_response(shown) : too_many();
}

} // namespace

Result<NamedLimit, Response> named_limit(const runtime::Gateway& gateway, std::string_view name) {
    const auto index = gateway.store().limit_named(name);
    if (!index)
        return problem(404, "There is no limit named \"" + std::string{name} + "\".");
    return NamedLimit{gateway.config().limits[*index], gateway.compiled().limits[*index]};
}

Result<std::string, Response> key_of(const NamedLimit& limit, const std::string& key) {
    const std::string& name = limit.settings.name;
    if (!limit.limit.limit->keyed())
        return problem(400, "The limit " + name + " has no key: it has one counter for all.");
    if (routing::is_glob(key))
        return key;
    auto canonical = limit.limit.key.canonical(key);
    if (!canonical || canonical->empty())
        return problem(
            400, "No request has such a key: the limit counts by " + limit.limit.key.text() + ".");
    return std::move(*canonical);
}

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
    const Now now = gateway.now();
    LimitChange change{.target = std::move(*target), .since = now.wall};
    change.expires = read.end(now);
    change.by = read.attribution();
    if (!change.expires)
        read.wrong("\"for\" is missing: a block must end, at most after \"366d\"");
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
    const Now now = gateway.now();
    LimitChange change{.target = {name, Kind::enforce, {}}, .since = now.wall};
    const std::optional<bool> enforce = read.flag("enforce");
    change.enforce = enforce.value_or(true);
    change.expires = read.end(now);
    change.by = read.attribution();
    if (!enforce)
        read.wrong("\"enforce\" is missing");
    if (!change.expires)
        read.wrong("\"for\" is missing: the switch must end, at most after \"366d\"");
    if (auto error = read.error())
        return std::move(*error);
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
    const auto by = attribution_in(query);
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
        if (routing::is_glob(*text))
            return problem(400, "Counters are cleared for one key, or for all without \"key\".");
        auto canonical = key_of(*limit, *text);
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
