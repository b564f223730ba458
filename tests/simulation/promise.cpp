#include "simulation.hpp"

#include <algorithm>
#include <map>

namespace stint::shared {
namespace {

// While the number changes, the larger one is the bound.
std::uint64_t larger_number(const ScheduleTerms& terms) {
    return std::max(terms.number, terms.other_number);
}

// A bucket that is filled 2 % faster than the limit's says of each span what broken_span() says of
// one: its tokens owed are those of the worst span that ends there.
std::string broken_bucket(const ScheduleTerms& terms, const std::vector<Admission>& admitted) {
    const std::uint64_t number = larger_number(terms);
    const auto burst =
        static_cast<double>(std::max(terms.burst > 0 ? terms.burst : number, terms.other_burst));
    double owed = 0;
    Instant from = 0; // of that span
    Instant before = 0;
    for (const Admission& each : admitted) {
        owed -= static_cast<double>(number) * 1.02 * static_cast<double>(each.at - before) /
                static_cast<double>(terms.per.count());
        if (owed <= 0)
            from = each.at;
        owed = std::max(owed, 0.0) + static_cast<double>(each.cost);
        before = each.at;
        if (owed > burst + 1e-6)
            return "a bucket owes " + std::to_string(owed) + " of " + std::to_string(burst) +
                   " within " + std::to_string((each.at - from) / 1000) + " us from " +
                   std::to_string(from / 1000) + " us";
    }
    return {};
}

// Clocks of gateways differ by 1 % in speed, so a span of `per` may be so much shorter.
std::string broken_span(const ScheduleTerms& terms, const std::vector<Admission>& admitted) {
    using limits::Algorithm;
    if (terms.algorithm == Algorithm::token_bucket)
        return broken_bucket(terms, admitted);
    const Instant span = terms.per.count() * 98 / 100;
    const std::uint64_t number = larger_number(terms);
    const std::uint64_t most = terms.algorithm == Algorithm::fixed_window ? 2 * number : number;
    for (std::size_t from = 0; from < admitted.size(); ++from) {
        std::uint64_t count = 0;
        for (std::size_t to = from; to < admitted.size(); ++to) {
            const Instant length = admitted[to].at - admitted[from].at;
            count += admitted[to].cost;
            if (length >= span)
                break;
            if (count > most)
                return std::to_string(count) + " instead of " + std::to_string(most) + " within " +
                       std::to_string(length / 1000) + " us from " +
                       std::to_string(admitted[from].at / 1000) + " us";
        }
    }
    return {};
}

std::string broken_lock(
    const ScheduleTerms& terms,
    const std::vector<Admission>& granted,
    const std::vector<Instant>& fences_forgotten) {
    std::uint64_t highest = 0;
    auto forgotten = fences_forgotten.begin();
    for (std::size_t at = 0; at < granted.size(); ++at) {
        const Admission& each = granted[at];
        const auto holds = [&](const Admission& other) { return other.end > each.at; };
        const auto inside = std::count_if(
            granted.begin(), granted.begin() + static_cast<std::ptrdiff_t>(at), holds);
        if (static_cast<std::uint64_t>(inside) >= terms.number)
            return std::to_string(inside + 1) + " holders at " + std::to_string(each.at / 1000) +
                   " us";
        for (; forgotten != fences_forgotten.end() && *forgotten <= each.at; ++forgotten)
            highest = 0;
        if (terms.number == 1 && each.fence <= highest)
            return "fence " + std::to_string(each.fence) + " after " + std::to_string(highest) +
                   " at " + std::to_string(each.at / 1000) + " us";
        highest = std::max(highest, each.fence);
    }
    return {};
}

} // namespace

std::string broken_promise(const ScheduleTerms& terms, const Outcome& outcome) {
    std::map<int, std::vector<Admission>> by_key;
    for (const Admission& each : outcome.admitted)
        by_key[each.key].push_back(each);
    for (const auto& [key, admitted] : by_key) {
        if (terms.lock) {
            if (std::string broken = broken_lock(terms, admitted, outcome.fences_forgotten);
                !broken.empty())
                return broken;
            continue;
        }
        if (terms.anchor == limits::Anchor::clock) {
            std::map<std::int64_t, std::uint64_t> windows;
            for (const Admission& each : admitted)
                if ((windows[each.window] += each.cost) > larger_number(terms))
                    return "window " + std::to_string(each.window) + " at " +
                           std::to_string(each.at / 1000) + " us";
            continue;
        }
        if (std::string broken = broken_span(terms, admitted); !broken.empty())
            return broken;
    }
    return {};
}

} // namespace stint::shared
