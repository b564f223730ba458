#include "routing/charges.hpp"

namespace stint::routing {

namespace {

// What a limit says of a key before it counts.
enum class Standing : std::uint8_t { counted, exempt, denied };

Standing standing_of(const RouteLimit& limit, const Key& key) noexcept {
    if (!key.missing || limit.missing_key == MissingKey::share) [[likely]]
        return Standing::counted;
    return limit.missing_key == MissingKey::exempt ? Standing::exempt : Standing::denied;
}

} // namespace

Charges charges_of(const Route& route, const KeyFacts& facts, std::string& scratch) {
    Charges made;
    for (std::size_t i = 0; i < route.limits.size(); ++i) {
        const RouteLimit& limit = route.limits[i];
        const Key key = limit.key.evaluate(facts, scratch);
        switch (standing_of(limit, key)) {
        case Standing::counted:
            made.limits[made.count] = &limit;
            made.charges[made.count++] = {limit.limit.get(), key.hash, limit.quota};
            break;
        case Standing::exempt:
            made.exempt |= 1U << i;
            break;
        case Standing::denied:
            made.denied_by = &limit;
            made.denial = Denial::missing_key;
            return made;
        }
    }
    return made;
}

std::string describe(const RouteLimit& denied_by, Denial denial) {
    switch (denial) {
    case Denial::none:
        break;
    case Denial::missing_key:
        return "it needs " + denied_by.key.text() + ", which the request does not have";
    }
    return {};
}

} // namespace stint::routing
