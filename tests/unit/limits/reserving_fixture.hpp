// What the tests of previews before limits that reserve share: a request in few words.
#pragma once

#include "fixture.hpp"
#include "limits/reservation/reservations.hpp"

#include <array>
#include <vector>

namespace stint::limits::test {

// A request before limits that reserve, and its answers.
struct ReservingRequest {
    std::vector<Charge> charges;
    std::vector<Reservation> reserving;
    std::array<ChargeState, max_charges> states;

    ReservingRequest(Limit& limit, std::uint64_t quota, Hash128 client, std::uint64_t ticket = 0)
        : charges{{.limit = &limit, .quota = quota}}, reserving{{0, client, ticket}} {}
    ReservingRequest() = default;

    Decision preview(const Now& now) { return preview_reserving(charges, reserving, now, states); }
    Decision admit(const Now& now) { return admit_reserving(charges, reserving, now, states); }
};

} // namespace stint::limits::test
