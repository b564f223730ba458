#include "admin/forecast.hpp"

#include "admin/change_body.hpp"
#include "admin/explain_recent.hpp"
#include "admin/known_keys.hpp"
#include "admin/named_limit.hpp"
#include "http/query.hpp"
#include "observe/json_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stint::admin {
namespace {

using limits::Forecast;
using limits::ForecastRule;
using limits::ForecastTerms;
using limits::KeyForecast;
using limits::Past;
using proxy::RecentRequests;

constexpr std::size_t keys_by_default = 50;
constexpr std::size_t examples_shown = 10;

// Returns the record's key of this limit; nullptr if the limit did not count the request.
const RecentRequests::Key* key_of(
    const runtime::Gateway& gateway,
    const RecentRequests::Record& record,
    const std::string& limit) {
    const auto& slots = gateway.store().slots().refusals();
    for (const RecentRequests::Key& key : std::span{record.keys}.first(record.key_count))
        if (slots[key.limit].second == limit)
            return &key;
    return nullptr;
}

std::vector<Hash128> keys_of(const Past& past) {
    std::vector<Hash128> keys;
    for (const limits::WindowCount& window : past.windows.listed())
        keys.push_back(window.key);
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
    return keys;
}

// The rules for each key: those with a number of their own keep it.
class Rules {
  public:
    Rules(const ForecastLimit& present, const ForecastLimit& other, const KnownKeys& known)
        : present_{present}, other_{other}, known_{known},
          exact_{present.plain && other.plain && !refuses_beyond_number(present, other)} {}

    // Returns nothing if the terms cannot be compared.
    [[nodiscard]] std::optional<ForecastRule> of(std::optional<Hash128> key) const {
        const auto text = key ? known_.texts.find(*key) : known_.texts.end();
        const bool known = text != known_.texts.end() && !text->second.cut;
        auto rule = limits::rule_of(
            numbered(present_, known ? &text->second.text : nullptr),
            numbered(other_, known ? &text->second.text : nullptr));
        if (!rule)
            return std::nullopt;
        rule->exact = rule->exact && exact_;
        // The key may have a number of its own: nothing is known to be refused.
        if (!known && (has_overrides(present_) || has_overrides(other_)))
            *rule = {.full_from = rule->full_from};
        return rule;
    }

  private:
    static bool has_overrides(const ForecastLimit& limit) {
        return limit.rules != nullptr && !limit.rules->overrides->empty();
    }

    static ForecastTerms numbered(const ForecastLimit& limit, const std::string* key) {
        ForecastTerms terms = limit.terms;
        if (key != nullptr && !key->empty())
            terms.numbers = routing::numbers_for(limit.rules, terms.numbers, *key);
        return terms;
    }

    const ForecastLimit& present_;
    const ForecastLimit& other_;
    const KnownKeys& known_;
    const bool exact_;
};

Json key_json(const KeyForecast& told, const KnownKeys& known) {
    Json json{{"key", nullptr}};
    if (const auto text = known.texts.find(told.key); text != known.texts.end()) {
        json["key"] = text->second.text;
        if (text->second.cut)
            json["cut"] = true;
    }
    json["windows"] = told.windows;
    json["full_windows"] = told.full;
    json["counted"] = told.counted;
    json["would_refuse"] = told.would_refuse;
    return json;
}

Json example_json(
    const runtime::Gateway& gateway,
    const RecentRequests::Record& record,
    const RecentRequests::Key& key) {
    std::string at;
    observe::append_rfc3339(at, record.at);
    Json json{
        {"time", at},
        {"route", gateway.store().slots().routes()[record.route]},
        {"key", key.text()},
        {"decision", to_text(record.kind)}};
    if (key.cut())
        json["cut"] = true;
    return json;
}

// Returns the newest remembered requests of keys that the other number would refuse.
Json examples_json(
    const runtime::Gateway& gateway,
    const std::string& limit,
    const Forecast& told,
    KnownKeys& known) {
    std::ranges::stable_sort(
        known.requests, [](const auto& a, const auto& b) { return a.at > b.at; });
    Json examples = Json::array();
    for (const RecentRequests::Record& record : known.requests) {
        const RecentRequests::Key* const key = key_of(gateway, record, limit);
        const auto of_key = [&](const KeyForecast& each) {
            return each.key == key->hash && each.would_refuse > 0;
        };
        if (key == nullptr || std::ranges::none_of(told.keys, of_key))
            continue;
        examples.push_back(example_json(gateway, record, *key));
        if (examples.size() == examples_shown)
            break;
    }
    return examples;
}

std::string_view basis_of(const limits::LimitIdentity& identity) {
    switch (identity.algorithm) {
    case limits::Algorithm::fixed_window:
        break;
    case limits::Algorithm::sliding_window:
        return "spans of the window's length";
    case limits::Algorithm::token_bucket:
        return "tokens owed now";
    case limits::Algorithm::concurrency:
        return "slots held now";
    }
    return "complete windows";
}

Json told_json(const Forecast& told) {
    return {
        {"windows", told.windows},
        {"full_windows", told.full},
        {"counted", told.counted},
        {"would_refuse",
         {{"at_least", told.at_least}, {"at_most", told.most ? Json(*told.most) : Json(nullptr)}}}};
}

// Is forecast_json(): GCC wants a coroutine whose frame has types of this namespace to be in it.
net::Task<Json>
told_by(runtime::Gateway& gateway, std::string name, ForecastLimit other, std::size_t most) {
    const auto named = named_limit(gateway, name);
    const limits::LimitPtr limit = named->limit.limit;
    const ForecastLimit present = forecast_limit(named->settings, named->limit);
    if (const auto reason = reason_against_forecast(present, other); !reason.empty())
        co_return Json{{"not_forecast", reason}};
    const Past past = past_of(*limit, named->limit.numbers, gateway.now());
    KnownKeys known = co_await known_keys(gateway, limit, keys_of(past));
    const Rules rules{present, other, known};
    if (!rules.of(std::nullopt))
        co_return Json{{"not_forecast", "what was counted tells nothing of such a limit"}};
    const Forecast told = limits::forecast(
        past, [&](std::optional<Hash128> key) { return rules.of(key).value_or(ForecastRule{}); });
    const Now now = gateway.now();
    std::string since;
    observe::append_rfc3339(
        since, std::max(now.wall - (now.steady - told.since), gateway.started_at()));
    Json json{{"since", since}, {"basis", basis_of(limit->identity())}};
    json.update(told_json(told));
    if (!limit->keyed())
        co_return json;
    Json keys = Json::array();
    for (const KeyForecast& key : std::span{told.keys}.first(std::min(most, told.keys.size())))
        keys.push_back(key_json(key, known));
    json["others_counted_at_most"] = told.unlisted;
    json["keys"] = std::move(keys);
    json["examples"] = examples_json(gateway, name, told, known);
    co_return json;
}

std::optional<std::uint64_t> number_in(std::string_view query, std::string_view name) {
    const auto text = http::parameter(query, name);
    if (!text)
        return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    const bool whole = error == std::errc{} && end == text->data() + text->size();
    return whole ? number : 0; // 0 is out of each parameter's range
}

} // namespace

net::Task<Json>
forecast_json(runtime::Gateway& gateway, std::string name, ForecastLimit other, std::size_t most) {
    return told_by(gateway, std::move(name), std::move(other), most);
}

net::Task<Response>
forecast_of_limit(runtime::Gateway& gateway, std::string name, std::string query) {
    const auto named = named_limit(gateway, name);
    if (!named)
        co_return named.error();
    ForecastLimit other = forecast_limit(named->settings, named->limit);
    const bool cap = other.terms.identity.algorithm == limits::Algorithm::concurrency;
    const bool bucket = other.terms.identity.algorithm == limits::Algorithm::token_bucket;
    const std::string_view parameter = cap ? "concurrent" : "requests";
    const std::array<std::string_view, 3> parameters{parameter, "n", bucket ? "burst" : "n"};
    if (auto fault = fault_in_query(
            query, parameters,
            bucket ? "requests, burst and n"
            : cap  ? "concurrent and n"
                   : "requests and n"))
        co_return std::move(*fault);
    other.terms.numbers.quota = number_in(query, parameter).value_or(other.terms.numbers.quota);
    const auto burst = number_in(query, "burst");
    const std::uint64_t most = number_in(query, "n").value_or(keys_by_default);
    if (other.terms.numbers.quota == 0 || (burst && (*burst == 0 || !bucket)))
        co_return problem(
            400, "?requests= (of a cap ?concurrent=) and, of a token bucket, ?burst= are the "
                 "limit's other numbers: at least 1.");
    if (most < 1 || most > limits::SpaceSaving::capacity)
        co_return problem(400, "?n= is how many keys to show: a number from 1 to 256.");
    if (burst)
        other.terms.numbers.burst = *burst;
    Json json{
        {"name", name},
        {"key", named->limit.limit->identity().key},
        {parameter, other.terms.numbers.quota}};
    Json told = co_await forecast_json(gateway, name, std::move(other), most);
    json.update(told);
    co_return json_response(json);
}

} // namespace stint::admin
