// A limit's settings as JSON.
#include "admin/config_json.hpp"
#include "base/lock_names.hpp"
#include "config/values/key_values.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stint::admin {
namespace {

std::string_view missing_key_word(config::Limit::MissingKey word) {
    switch (word) {
    case config::Limit::MissingKey::share:
        return "share";
    case config::Limit::MissingKey::exempt:
        return "exempt";
    case config::Limit::MissingKey::refuse:
        return "refuse";
    }
    return "";
}

Json sources_json(const std::vector<config::KeySource>& key) {
    Json sources = Json::array();
    for (const config::KeySource& source : key)
        sources.push_back(config::to_text(source));
    return sources.size() == 1 ? sources.front() : sources;
}

void add_key_json(const config::Limit& limit, Json& json) {
    bool by_address = false;
    for (const config::KeySource& source : limit.key)
        by_address = by_address || source.kind == config::KeySource::Kind::client_ip;
    json["key"] = sources_json(limit.key);
    json["missing_key"] = missing_key_word(limit.missing_key);
    json["max_keys"] = limit.max_keys;
    if (by_address) {
        json["ipv4_prefix"] = limit.prefixes.ipv4;
        json["ipv6_prefix"] = limit.prefixes.ipv6;
    }
}

Json list_json(const config::KeyList& list) {
    Json listed = Json::array();
    for (const Cidr& network : list.networks)
        listed.push_back(IpText{network}.view());
    for (const std::string& key : list.keys)
        listed.push_back(key);
    return listed;
}

// Only what there is.
void add_rules_json(const config::Limit& limit, Json& json) {
    for (const config::Override& each : limit.overrides)
        json["overrides"][each.key] = numbers_json(limit, {each.quota, each.burst});
    if (!limit.exempt.empty())
        json["exempt"] = list_json(limit.exempt);
    if (!limit.deny.empty())
        json["deny"] = list_json(limit.deny);
}

std::string_view algorithm_word(config::Limit::Algorithm algorithm) {
    switch (algorithm) {
    case config::Limit::Algorithm::fixed_window:
        return "fixed_window";
    case config::Limit::Algorithm::sliding_window:
        return "sliding_window";
    case config::Limit::Algorithm::token_bucket:
        return "token_bucket";
    }
    return "";
}

std::string_view unit_word(CalendarUnit unit) {
    switch (unit) {
    case CalendarUnit::day:
        return "day";
    case CalendarUnit::week:
        return "week";
    case CalendarUnit::month:
        break;
    }
    return "month";
}

void add_window_json(const config::Limit& limit, Json& json) {
    if (limit.unit) {
        json["per"] = unit_word(*limit.unit);
        json["time_zone"] = limit.time_zone;
    } else {
        json["per_ms"] = ms_json(limit.per);
    }
    json["algorithm"] = algorithm_word(limit.algorithm);
    if (limit.algorithm == config::Limit::Algorithm::fixed_window && !limit.unit)
        json["anchor"] = limit.anchor == config::Limit::Anchor::clock ? "clock" : "first_request";
    json["pace"] = limit.pace;
}

void add_pricing_json(const config::Limit& limit, Json& json) {
    json["enforce"] = limit.enforce;
    if (!limit.cost_request_field.empty())
        json["cost"] = "header:" + limit.cost_request_field;
    else if (!limit.cost_response_field.empty())
        json["cost"] = "header:" + limit.cost_response_field;
    else
        json["cost"] = limit.cost;
    if (!limit.cost_response_field.empty())
        json["reserve"] = limit.cost;
    if (!limit.count_when.empty())
        json["count_when"] = Json{{"status", limit.count_when}};
    if (!limit.refund.empty())
        json["refund"] = limit.refund;
}

} // namespace

Json numbers_json(const config::Limit& limit, limits::Numbers numbers) {
    Json json{{"limit", numbers.quota}};
    const std::uint64_t burst = numbers.burst > 0 ? numbers.burst : limit.burst;
    if (limit.algorithm == config::Limit::Algorithm::token_bucket && !limit.pace)
        json["burst"] = burst > 0 ? burst : numbers.quota;
    return json;
}

void add_wait_json(const config::Limit& limit, Json& json) {
    if (!limit.wait)
        return;
    json["when_exceeded"] = "wait";
    json["max_wait_ms"] = limit.wait->max_wait.count();
    json["max_waiting"] = limit.wait->max_waiting;
    json["fair_by"] = sources_json(limit.wait->fair_by);
}

Json limit_settings_json(const config::Limit& limit) {
    const bool window = limit.kind == config::Limit::Kind::window;
    Json json{{"kind", window ? "window" : "cap"}};
    json.update(numbers_json(limit, {limit.quota, limit.burst}));
    if (window)
        add_window_json(limit, json);
    else
        json["ws_holds_slot"] = limit.ws_holds_slot;
    add_pricing_json(limit, json);
    if (!limit.key.empty())
        add_key_json(limit, json);
    add_rules_json(limit, json);
    if (limit.lock)
        json["lock"] = lock_name(limit.name);
    add_wait_json(limit, json);
    if (!limit.reserve_for.empty()) {
        json["retry_after"] = "reserve";
        json["reserve_for"] = sources_json(limit.reserve_for);
    }
    if (!limit.route.empty())
        json["route"] = limit.route;
    return json;
}

} // namespace stint::admin
