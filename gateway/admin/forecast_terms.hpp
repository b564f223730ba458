// Compares two configurations of a limit for a forecast.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/forecast/forecast.hpp"
#include "routing/key_rules.hpp"
#include "runtime/compile.hpp"

#include <memory>
#include <string_view>

namespace stint::admin {

// A limit in a configuration, as far as it decides what is refused.
struct ForecastLimit {
    limits::ForecastTerms terms;
    routing::KeyRulesPtr rules;                    // nullptr: none
    std::shared_ptr<const config::Limit> settings; // without the overrides, which `rules` has
    bool waits = false;                            // requests are queued instead of being refused
    // True: each request has the cost of the terms, is counted for good, and is either admitted or
    // refused at once, by this gateway alone.
    bool plain = false;
};

// Returns the limit as it is in force, or in another configuration that was compiled.
[[nodiscard]] ForecastLimit
forecast_limit(const config::Limit& settings, const runtime::ConfiguredLimit& limit);

// Returns why the present limit's counts do not even tell the least that the other one would
// refuse; "" if they may.
[[nodiscard]] std::string_view
reason_against_forecast(const ForecastLimit& present, const ForecastLimit& other);

// True if the other limit may refuse more than what is above its number.
[[nodiscard]] bool refuses_beyond_number(const ForecastLimit& present, const ForecastLimit& other);

} // namespace stint::admin
