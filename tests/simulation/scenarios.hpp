// Schedules that are written down: each goes wrong when one safeguard is missing.
#pragma once

#include "simulation.hpp"

#include <string_view>

namespace stint::shared {

struct Scenario {
    std::string_view name;
    Duration per;
    std::string_view mutant; // a name in mutants.hpp
    void (*play)(Simulation&);
};

namespace scenarios {

using namespace std::chrono_literals;

constexpr Instant ms(std::int64_t count) {
    return count * 1'000'000;
}

// The time to live is 1 s, N is 10, and a gateway is quiet 1 s and 1.1 of `per` and 250 ms after
// the store's first call.
inline constexpr Scenario all[] = {
    {"a gateway was given up, its share passed on, and the store forgets both", 300ms,
     "a session out of its time confirms",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.busy(0, 0, ms(2100));
         of.at(ms(2000), [&] {
             of.remember();
             of.cut_off(0, ms(3750));
         });
         of.at(ms(2100), [&] { of.start(1); });
         of.busy(1, ms(3000), ms(4300));
         of.at(ms(3700), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(3750), ms(4300));
     }},
    {"the store forgets a share, and its holder dies before it can tell", 900ms,
     "an epoch is learned without one that died untold",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.at(ms(2500), [&] { of.remember(); });
         of.busy(1, ms(2510), ms(3800));
         of.at(ms(3000), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(4060), ms(5500));
     }},
    {"the store forgets a gateway that nobody else knows", 300ms, "sessions join at once",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(2000), [&] {
             of.remember();
             of.cut_off(0, ms(2350));
         });
         of.at(ms(2010), [&] { of.start(1); });
         of.busy(1, ms(2010), ms(3000));
         of.at(ms(2300), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(2350), ms(3000));
     }},
    {"a call arrives a second time, after newer ones", 300ms, "an old call is carried out",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(0, ms(2000), ms(2200));
         of.busy(1, ms(2000), ms(2200));
         of.at(ms(2790), [&] { of.repeat_next_call(0, 450ms); });
         of.busy(0, ms(2800), ms(4000));
         of.at(ms(3000), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(3200), ms(4000));
     }},
    {"the store forgets everything, begins in doubt, and fails over", 300ms,
     "an epoch after one in doubt is trusted",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(1, ms(1900), ms(3000));
         of.at(ms(2400), [&] {
             of.kill(0);
             of.cut_off(1, ms(9000));
             of.flush();
         });
         of.at(ms(2420), [&] { of.start(0); });
         of.at(ms(2550), [&] {
             of.remember();
             of.fail_over();
         });
         of.busy(0, ms(2560), ms(3100));
     }},
    {"a gateway is cut off and uses its share to the end", 900ms,
     "a dead session's use does not age",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(0, ms(2500), ms(3700));
         of.at(ms(3000), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(3900), ms(4600));
     }},
    {"the store forgets everything, a gateway is cut off, and one starts that knows nothing", 900ms,
     "an epoch is quiet before former use has aged",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(1, ms(2500), ms(3700));
         of.at(ms(3000), [&] {
             of.kill(0);
             of.cut_off(1, ms(9000));
             of.flush();
         });
         of.at(ms(3020), [&] { of.start(0); });
         of.busy(0, ms(4080), ms(4600));
     }},
    {"the same, and the one that is cut off still has a session", 300ms,
     "an epoch is quiet before the former sessions have ended",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(1, ms(2500), ms(3700));
         of.at(ms(3000), [&] {
             of.kill(0);
             of.cut_off(1, ms(9000));
             of.flush();
         });
         of.at(ms(3020), [&] { of.start(0); });
         of.busy(0, ms(3610), ms(4000));
     }},
    {"a gateway is heard, but its shares are not, and the store forgets one", 300ms,
     "a session that is heard has told its shares",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.at(ms(2430), [&] { of.remember(); });
         of.at(ms(2500), [&] { of.lose_syncs(1, ms(9000)); });
         of.busy(1, ms(2440), ms(5000));
         of.at(ms(2600), [&] { of.fail_over(); });
         of.busy(0, ms(4300), ms(5000));
     }},
    {"a gateway leaves, and the store forgets what it has used", 900ms,
     "what a session held that has ended is forgotten with the store",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.busy(1, ms(2500), ms(3600));
         of.at(ms(3600), [&] { of.leave(1); });
         of.at(ms(3800), [&] { of.flush(); });
         of.busy(0, ms(3900), ms(4600));
     }},
    {"the same, and the store's clock is ahead of the former one's", 900ms,
     "the age of what is known is told by a clock that began anew",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0);
             of.start(1);
         });
         of.at(ms(2200), [&] { of.step_store_clock(5s); });
         of.busy(1, ms(2500), ms(3600));
         of.at(ms(3600), [&] { of.leave(1); });
         of.at(ms(3800), [&] { of.flush(); });
         of.busy(0, ms(3900), ms(4600));
     }},
    {"the store forgets that a gateway was heard", 300ms,
     "sessions of the former epoch die by their former beats",
     [](Simulation& of) {
         of.at(0, [&] { of.start(1); });
         of.at(ms(60), [&] { of.start(0); });
         of.at(ms(1950), [&] { of.cut_off(1, ms(2150)); });
         of.at(ms(2100), [&] { of.remember(); });
         of.busy(1, ms(2200), ms(3900));
         of.at(ms(2945), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(2965), ms(3900));
     }},
};

} // namespace scenarios

// The terms of a scenario's run.
inline ScheduleTerms terms_of(const Scenario& scenario) {
    ScheduleTerms terms;
    terms.per = scenario.per;
    terms.gateways = 2;
    terms.demand = 6;
    terms.phase = Duration{0};
    terms.starts = false;
    terms.faults = false;
    return terms;
}

} // namespace stint::shared
