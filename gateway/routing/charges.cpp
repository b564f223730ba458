#include "routing/charges.hpp"

namespace stint::routing {

namespace {

// The treatment of a request by a limit: exempt, denied, or counted against `numbers`.
struct Standing {
    bool exempt = false;
    Denial denial = Denial::none;
    limits::Numbers numbers{};
};

Standing standing_of(const LimitTerms& limit, const KeyFacts& facts, const Key& key) noexcept {
    Standing standing{.numbers = {limit.quota, limit.burst}};
    if (limit.rules != nullptr) [[unlikely]] {
        const IpAddress& client = facts.client.address();
        if (limit.rules->deny.contains(client, key.text))
            return {.denial = Denial::listed};
        if (limit.rules->exempt.contains(client, key.text))
            return {.exempt = true};
        if (!key.missing)
            standing.numbers = numbers_for(limit.rules, standing.numbers, key.text);
    }
    if (key.missing) [[unlikely]] {
        standing.exempt =
            limit.missing_key == MissingKey::exempt || limit.missing_key == MissingKey::partial;
        if (limit.missing_key == MissingKey::refuse)
            standing.denial = Denial::missing_key;
    }
    return standing;
}

} // namespace

Charges charges_of(
    const Route& route,
    const std::vector<LimitTermsPtr>& terms,
    const KeyFacts& facts,
    std::string& scratch,
    KeyObserver* witness) {
    Charges made;
    for (const RouteLimit& on_route : route.limits) {
        const AppliedLimit limit{terms[on_route.index].get(), &on_route};
        const Key key = limit->key.evaluate(facts, scratch);
        if (witness != nullptr && !witness->concerns(limit, key)) [[unlikely]]
            continue;
        limits::Numbers numbers{limit->quota, limit->burst};
        if (limit->rules != nullptr || key.missing) [[unlikely]] {
            const Standing standing = standing_of(*limit.terms, facts, key);
            if (standing.denial != Denial::none) {
                made.denied_by = limit;
                made.denial = standing.denial;
                return made;
            }
            if (standing.exempt) {
                made.exempt |= 1U << static_cast<unsigned>(&on_route - route.limits.data());
                continue;
            }
            numbers = standing.numbers;
        }
        if (witness != nullptr && !limit->key.empty())
            witness->counts(limit, key);
        made.limits.push_back(limit);
        limits::Charge& charge = made.charges.emplace_back(limit->charge(key.hash));
        charge.quota = numbers.quota;
        charge.burst = numbers.burst;
        if (!limit->pricing.request_field.empty()) [[unlikely]]
            charge.cost = cost_in(facts.fields, limit->pricing.request_field).value_or(1);
    }
    return made;
}

std::string describe(const LimitTerms& denied_by, Denial denial) {
    switch (denial) {
    case Denial::none:
        break;
    case Denial::missing_key:
        return "it needs " + denied_by.key.text() + ", which the request does not have";
    case Denial::listed:
        return "it does not admit this client";
    }
    return {};
}

} // namespace stint::routing
