#include "limits/forecast/forecast.hpp"

#include "limits/algorithm/fraction.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <tuple>

namespace stint::limits {

namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? unbounded : product;
}

std::uint64_t excess(std::uint64_t all, std::uint64_t part) noexcept {
    return all > part ? all - part : 0;
}

std::uint64_t burst_of(const Numbers& numbers) noexcept {
    return numbers.burst > 0 ? numbers.burst : numbers.quota;
}

bool same_windows(const LimitIdentity& a, const LimitIdentity& b) noexcept {
    return a.algorithm == Algorithm::fixed_window && b.algorithm == a.algorithm &&
           a.anchor == b.anchor && a.per == b.per && a.time_zone == b.time_zone && a.unit == b.unit;
}

// Returns the shortest length of a window whose longest is `per`: days have 23 to 25 hours, months
// 28 to 31 days.
Duration shortest_window(const LimitIdentity& identity) noexcept {
    using std::chrono::hours;
    if (identity.time_zone.empty())
        return identity.per;
    switch (identity.unit) {
    case CalendarUnit::day:
        return hours{23};
    case CalendarUnit::week:
        return hours{7 * 24 - 1};
    case CalendarUnit::month:
        break;
    }
    return hours{28 * 24 - 1};
}

// Returns the most that the terms admit in a span of this length.
std::uint64_t most_in(Duration span, const ForecastTerms& terms) noexcept {
    const auto per = static_cast<std::uint64_t>(shortest_window(terms.identity).count());
    if (terms.identity.algorithm == Algorithm::token_bucket) {
        const Quotient refilled = divide(span.count(), terms.numbers.quota, per);
        return burst_of(terms.numbers) + static_cast<std::uint64_t>(refilled.whole);
    }
    const std::uint64_t windows = (static_cast<std::uint64_t>(span.count()) + per - 1) / per;
    const bool fixed = terms.identity.algorithm == Algorithm::fixed_window;
    return times(windows + (fixed ? 1 : 0), terms.numbers.quota);
}

std::optional<std::uint64_t> most_of(const ForecastTerms& present, const ForecastTerms& other) {
    const Algorithm now = present.identity.algorithm;
    const Algorithm then = other.identity.algorithm;
    if ((now == Algorithm::concurrency) != (then == Algorithm::concurrency))
        return std::nullopt;
    if (now == Algorithm::concurrency)
        return other.numbers.quota;
    if (now != Algorithm::token_bucket)
        return same_windows(present.identity, other.identity)
                   ? other.numbers.quota
                   : most_in(present.identity.per, other);
    const auto rate = [](const ForecastTerms& terms, const ForecastTerms& beside) {
        return static_cast<Wide>(terms.numbers.quota) *
               static_cast<Wide>(static_cast<std::uint64_t>(beside.identity.per.count()));
    };
    if (then != now || present.pace || other.pace || rate(other, present) > rate(present, other))
        return std::nullopt;
    return burst_of(other.numbers);
}

// Returns the lowest count at which the terms admit no further request in a window.
std::uint64_t full_from(const ForecastTerms& terms) noexcept {
    const bool bucket = terms.identity.algorithm == Algorithm::token_bucket;
    return excess(bucket ? burst_of(terms.numbers) : terms.numbers.quota, terms.cost - 1);
}

// The sums of one key's windows.
void add(KeyForecast& key, const WindowCount& window, const ForecastRule& rule) noexcept {
    ++key.windows;
    key.full += window.counted >= rule.full_from ? 1 : 0;
    key.counted += window.counted;
    key.would_refuse += excess(window.counted, rule.admits);
}

bool refused_more(const KeyForecast& a, const KeyForecast& b) noexcept {
    return std::tuple{b.would_refuse, b.full, a.key} < std::tuple{a.would_refuse, a.full, b.key};
}

} // namespace

std::optional<ForecastRule> rule_of(const ForecastTerms& present, const ForecastTerms& other) {
    if (present.identity.key != other.identity.key || present.cost == 0 || other.cost == 0)
        return std::nullopt;
    const auto most = most_of(present, other);
    if (!most)
        return std::nullopt;
    const bool same = same_windows(present.identity, other.identity);
    // A count is of charges at the present cost: so many requests fit, at the other one.
    return ForecastRule{
        .admits = times(*most / other.cost, present.cost),
        .full_from = full_from(present),
        .exact = same && !present.pace && !other.pace};
}

Forecast forecast(const Past& past, const RuleOfKey& rule_of_key) {
    std::map<Hash128, KeyForecast> keys;
    bool exact = true;
    for (const WindowCount& window : past.windows.listed()) {
        const ForecastRule rule = rule_of_key(window.key);
        exact = exact && rule.exact;
        add(keys.try_emplace(window.key, KeyForecast{.key = window.key}).first->second, window,
            rule);
    }
    const ForecastRule rule = rule_of_key(std::nullopt);
    exact = exact && rule.exact;
    const CountBins::Bin others = past.windows.rest().total();
    Forecast result;
    result.since = past.since;
    result.windows = others.windows;
    result.counted = others.sum;
    result.full = past.windows.rest().windows_from(rule.full_from);
    result.others = past.windows.rest().refused_by(rule.admits);
    result.unlisted = past.windows.rest().highest();
    result.at_least = result.others.least;
    std::uint64_t most = result.others.most;
    for (const auto& [hash, key] : keys) {
        result.windows += key.windows;
        result.full += key.full;
        result.counted += key.counted;
        result.at_least += key.would_refuse;
        most += key.would_refuse;
        if (key.would_refuse > 0 || key.full > 0)
            result.keys.push_back(key);
    }
    if (exact)
        result.most = most;
    std::ranges::sort(result.keys, refused_more);
    return result;
}

} // namespace stint::limits
