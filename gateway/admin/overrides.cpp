#include "admin/overrides.hpp"

#include "admin/change_body.hpp"
#include "admin/config_json.hpp"
#include "admin/named_limit.hpp"

#include <cstdint>
#include <utility>

namespace stint::admin {
namespace {

using runtime::LimitChange;
using Kind = LimitChange::Kind;

std::string number_of(const config::Limit& limit) {
    return limit.kind == config::Limit::Kind::cap ? "concurrent" : "requests";
}

bool has_burst(const config::Limit& limit) {
    return limit.algorithm == config::Limit::Algorithm::token_bucket && !limit.pace;
}

Json shown(const LimitChange& override, const config::Limit& limit, const Now& now) {
    Json json = numbers_json(limit, override.numbers);
    json["set_at_run_time"] = true;
    if (override.expires)
        json["expires_in_ms"] = ceil_ms(*override.expires - now.steady);
    return json;
}

// Returns the reason why a limit cannot have these numbers, in the words of the configuration's
// check; "" if it can. Numbers without a burst have the limit's.
std::string numbers_fault(const limits::Numbers& numbers, const config::Limit& limit) {
    const bool own_burst = numbers.burst > 0;
    const std::uint64_t burst = own_burst ? numbers.burst : limit.burst;
    const std::string number = in_quotes(own_burst ? "burst" : number_of(limit));
    const auto most = limit.shared ? config::longest_shared_refill : config::longest_refill;
    if (!config::refills_within(most, burst, numbers.quota, limit.per))
        return number + " would take more than " + std::to_string(most / std::chrono::days{1}) +
               " days to fill" +
               (own_burst ? "; expected a smaller one"
                          : " the limit's burst (" + std::to_string(burst) +
                                "); expected more, or a smaller \"burst\" beside it");
    const std::uint64_t capacity = config::capacity_of(burst, numbers.quota);
    if (limit.cost > capacity)
        return number + " is " + std::to_string(capacity) + ", less than a request costs (" +
               std::to_string(limit.cost) + "), so every request would be refused";
    return {};
}

// Returns the reason why an override of a key would not be valid with the new burst of the whole
// limit; "" if all are. numbers: the limit's new numbers. limit: with the changes so far.
std::string fault_of_keys(const limits::Numbers& numbers, config::Limit limit) {
    if (numbers.burst == 0)
        return {};
    limit.burst = numbers.burst;
    for (const config::Override& each : limit.overrides)
        if (std::string fault = numbers_fault({each.quota, each.burst}, limit); !fault.empty())
            return "of the override of " + in_quotes(each.key) + ", " + fault;
    return {};
}

// Returns the key as LimitChange::Target has it; empty for the whole limit. The error is the
// response to send.
Result<std::string, Response> target_key(const NamedLimit& limit, const std::string& key) {
    if (limit.settings.lock)
        return problem(400, "A lock has no overrides: its number of holders is in the file.");
    return key.empty() ? Result<std::string, Response>{key} : key_or_pattern(limit, key);
}

} // namespace

Result<LimitChange, Response>
override_in(std::string_view body, const config::Limit& limit, std::string key, const Now& now) {
    const std::string number = number_of(limit);
    const bool burst = has_burst(limit);
    auto object = object_in(
        body, "The body must be a JSON object such as {" + in_quotes(number) +
                  ": 200, \"for\": \"2h\"}.");
    if (!object)
        return std::move(object).error();
    ChangeBody read = burst ? ChangeBody{*object, {number, "burst", "for", "expires_in_ms"}}
                            : ChangeBody{*object, {number, "for", "expires_in_ms"}};
    const bool cap = limit.kind == config::Limit::Kind::cap;
    LimitChange made{.target = {limit.name, Kind::numbers, std::move(key)}, .since = now.wall};
    made.numbers.quota = read.count(
        number, cap ? config::most_concurrent : config::most_requests,
        "; to refuse a key, POST to /limits/NAME/block");
    if (burst)
        made.numbers.burst = read.count("burst", config::most_requests);
    made.expires = read.end(now);
    made.by = read.attribution();
    if (made.numbers.quota == 0)
        read.wrong(in_quotes(number) + " is missing");
    else if (std::string fault = numbers_fault(made.numbers, limit); !fault.empty())
        read.wrong(std::move(fault));
    if (auto error = read.error())
        return std::move(*error);
    return made;
}

void add_overrides(
    Json& limit_json,
    const config::Limit& limit,
    const runtime::LimitChanges& changes,
    const Now& now) {
    for (const LimitChange& each : changes.of(limit.name, Kind::numbers))
        if (!each.target.key.empty() && (!each.expires || *each.expires > now.steady))
            limit_json["overrides"][each.target.key] = shown(each, limit, now);
}

Response put_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view body) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    auto target = target_key(*limit, key);
    if (!target)
        return std::move(target).error();
    const Now now = gateway.now();
    auto made = override_in(body, limit->settings, std::move(*target), now);
    if (!made)
        return std::move(made).error();
    const config::Limit changed = gateway.changes().overlay().limits().applied_to(limit->settings);
    const std::string fault = made->target.key.empty() ? fault_of_keys(made->numbers, changed)
                                                       : numbers_fault(made->numbers, changed);
    if (!fault.empty())
        return problem(400, fault + ".");
    Json json{{"name", name}};
    if (!made->target.key.empty())
        json["key"] = made->target.key;
    json.update(shown(*made, limit->settings, now));
    if (!gateway.changes().put(std::move(*made)))
        return problem(
            409, "There are " + std::to_string(runtime::LimitChanges::most) +
                     " changes already: end some first.");
    return json_response(json);
}

Response delete_override(
    runtime::Gateway& gateway,
    const std::string& name,
    const std::string& key,
    std::string_view query) {
    const auto limit = named_limit(gateway, name);
    if (!limit)
        return limit.error();
    const auto target = target_key(*limit, key);
    if (!target)
        return target.error();
    const auto by = attribution_in(query);
    if (!by)
        return by.error();
    if (!gateway.changes().erase({name, Kind::numbers, *target}, *by))
        return problem(
            404, "No override of " + name + " was set for " +
                     (key.empty() ? "the whole limit" : "this key") + " at run time.");
    Json json{{"name", name}};
    if (!target->empty())
        json["key"] = *target;
    json["deleted"] = true;
    return json_response(json);
}

} // namespace stint::admin
