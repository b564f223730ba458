// Forecasts how many of the requests that a limit admitted lately another number would refuse.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/decision.hpp"
#include "limits/forecast/past_windows.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace stint::limits {

// The numbers of a limit in one configuration, as far as they decide what it refuses.
struct ForecastTerms {
    LimitIdentity identity;
    Numbers numbers;
    std::uint64_t cost = 1; // a request's cost
    bool pace = false;
};

// The most that the other terms admit of a window that was counted under the present ones.
struct ForecastRule {
    // The most of a window, in the unit of its counts. By default nothing is known to be refused.
    std::uint64_t admits = std::numeric_limits<std::uint64_t>::max();
    // A window with this count is full under the present terms: they may have refused requests.
    std::uint64_t full_from = std::numeric_limits<std::uint64_t>::max();
    // True: exactly as many are admitted, if so many are asked for. False: at most, so that a
    // forecast tells the least that is refused.
    bool exact = false;
};

// Returns the rule for a key with these terms now and then; nullopt if counts under the present
// terms tell nothing of the others: another key, a cap instead of a rate, a bucket's debt under
// another algorithm, with pacing, or at a higher rate.
//  - A fixed window of the same length and anchor begins and ends with the same requests: exact,
//    unless either is paced.
//  - Otherwise a window of the past lies within several of the others, which admit their number
//    each, a bucket also what it has saved up.
//  - A bucket that owes more than the other burst has admitted what the other would not have.
//  - A cap with more slots in use than the other's number likewise.
[[nodiscard]] std::optional<ForecastRule>
rule_of(const ForecastTerms& present, const ForecastTerms& other);

struct KeyForecast {
    Hash128 key;
    std::uint64_t windows = 0;
    std::uint64_t full = 0;         // windows in which the present number was reached
    std::uint64_t counted = 0;      // admitted under the present number
    std::uint64_t would_refuse = 0; // the part of `counted`; at least, if the rule is not exact
};

// Refusals under the present number are not counted. A lower number refuses these requests, too. A
// higher number admits at most the difference between the numbers more, in each full window.
struct Forecast {
    SteadyTime since{};
    std::uint64_t windows = 0;           // sum over all keys
    std::uint64_t full = 0;              // never too few
    std::uint64_t counted = 0;           // admitted under the present number
    std::uint64_t at_least = 0;          // the part that the other number would refuse
    std::optional<std::uint64_t> most{}; // nullopt: no bound is known, as the rule is not exact
    // The keys with windows that were listed one by one, as far as the other number refuses
    // anything or one of them is full. First those with the most refusals, then those with the most
    // full windows.
    std::vector<KeyForecast> keys;
    Bounds others{}; // refusals by the other number in windows that were not listed one by one
    // No window that was not listed counted more. As long as the other number is not less, the
    // refusals of `keys` are complete; else they may lack windows.
    std::uint64_t unlisted = 0;
};

// Returns the counts of the limit's last complete windows (see collect_past()). numbers: in the
// present configuration. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] Past past_of(const Limit& limit, const Numbers& numbers, const Now& now);

// The rule for a key; nullopt for the windows that are not listed one by one.
using RuleOfKey = std::function<ForecastRule(std::optional<Hash128>)>;

// Pure: any thread. Throws std::bad_alloc.
[[nodiscard]] Forecast forecast(const Past& past, const RuleOfKey& rule_of_key);

} // namespace stint::limits
