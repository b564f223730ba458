#include "admin/forecast_terms.hpp"

#include <utility>

namespace stint::admin {
namespace {

using MissingKey = config::Limit::MissingKey;

bool same(const config::KeyList& a, const config::KeyList& b) {
    return a.keys == b.keys && a.networks == b.networks;
}

} // namespace

ForecastLimit forecast_limit(const config::Limit& settings, const runtime::ConfiguredLimit& limit) {
    ForecastLimit made;
    made.terms.identity = limit.limit->identity();
    made.terms.numbers = limit.numbers;
    made.terms.cost = settings.cost;
    made.terms.pace = settings.pace;
    made.rules = limit.rules;
    auto own = std::make_shared<config::Limit>(settings);
    own->overrides.clear();
    made.settings = std::move(own);
    made.waits = limit.waits;
    made.plain = settings.cost_request_field.empty() && settings.cost_response_field.empty() &&
                 settings.count_when.empty() && settings.refund.empty() && !settings.shared &&
                 !limit.waits && !limit.reserves;
    return made;
}

std::string_view reason_against_forecast(const ForecastLimit& present, const ForecastLimit& other) {
    const config::Limit& now = *present.settings;
    const config::Limit& then = *other.settings;
    if (other.waits)
        return "requests wait for the limit instead of being refused";
    if (now.enforce && !then.enforce)
        return "the limit would refuse nothing: enforce is false";
    if (!then.count_when.empty() || !then.cost_response_field.empty())
        return "requests are charged after their responses";
    if (!then.refund.empty() && then.refund != now.refund)
        return "charges are given back by other statuses";
    if (!then.exempt.empty() && !same(then.exempt, now.exempt))
        return "others are exempt";
    if (then.missing_key != now.missing_key && then.missing_key != MissingKey::refuse)
        return "requests without the key are counted in another way";
    return {};
}

bool refuses_beyond_number(const ForecastLimit& present, const ForecastLimit& other) {
    const config::Limit& then = *other.settings;
    return (!then.deny.empty() && !same(then.deny, present.settings->deny)) ||
           then.missing_key != present.settings->missing_key;
}

} // namespace stint::admin
