// Schedules that are written down: each goes wrong when one safeguard is missing.
#pragma once

#include "simulation.hpp"

#include <string_view>

namespace stint::shared {

struct Scenario {
    std::string_view name;
    Duration per;
    std::string_view mutant; // a name in mutants.hpp, or below
    void (*play)(Simulation&);
    enum class Breaks : std::uint8_t { number, demand } breaks = Breaks::number; // by the mutant
    // The number that holds from an instant on.
    std::uint64_t number = 10;
    Instant from = 0;
    int gateways = 2;
    limits::Anchor anchor = limits::Anchor::first_request;
    bool lock = false;       // its leases last for `per` at most
    std::uint64_t burst = 0; // of a token bucket; 0: it is none
    std::uint64_t other_burst = 0;
    Duration length = std::chrono::seconds{6};
    double demand = 6; // as ScheduleTerms::demand
};

// The names of Simulation::let_shares_outlive_sessions() and number_calls_by_counter(). of_session:
// the safeguard is in Session, and session_test.cpp fails without it.
inline constexpr std::string_view shares_outlive_sessions = "shares outlive their session";
inline constexpr std::string_view calls_by_counter =
    "a counter's calls begin anew after it was forgotten";
inline constexpr std::string_view of_session = "session_test.cpp";

namespace scenarios {

using namespace std::chrono_literals;

constexpr Instant ms(std::int64_t count) {
    return count * 1'000'000;
}

// Starts the first gateways.
inline void start(Simulation& of, int count) {
    of.at(0, [&of, count] {
        for (int i = 0; i < count; ++i)
            of.start(i);
    });
}

inline void start_both(Simulation& of) {
    start(of, 2);
}

// A lock is gateway 0's, and the store loses that; then it is gateway 1's.
inline void lose_fences(Simulation& of) {
    start_both(of);
    of.at(ms(2000), [&] { of.remember(); });
    of.busy(0, ms(2100), ms(2200));
    of.at(ms(2300), [&] {
        of.cut_off(0, ms(9000));
        of.fail_over();
    });
    of.busy(1, ms(4500), ms(5900));
}

// The store forgets all while the first gateway is away, which has requests until `busy`. The
// second one, which does not know it, is away when it comes back.
inline void miss_each_other(Simulation& of, Instant busy) {
    of.at(0, [&of] { of.start(0, 10s); });
    of.at(ms(500), [&of] { of.trust(0); });
    of.busy(0, ms(2000), busy);
    of.at(ms(20000), [&of] {
        of.flush();
        of.cut_off(0, ms(24700));
    });
    of.at(ms(20010), [&of] { of.start(1, 10s); });
    of.at(ms(20300), [&of] { of.cut_off(1, ms(25950)); });
}

// Gateway 1 is given up. The store forgets that with all else, and gateway 1 comes back; the
// replica has not forgotten it.
inline void forget_a_death(Simulation& of) {
    start_both(of);
    of.at(ms(1000), [&of] { of.trust(0); });
    of.busy(1, ms(1500), ms(1600));
    of.at(ms(1700), [&of] { of.cut_off(1, ms(3300)); });
    of.at(ms(2900), [&of] { of.remember(); });
    of.at(ms(3000), [&of] { of.flush(); });
}

// Gateway 0 is given up, and its share passed on to gateway 1; the store forgets both. Then gateway
// 0 is back, and gateway 1 away. Both have requests until `busy`.
inline void forget_who_was_given_up(Simulation& of, Instant busy) {
    of.at(0, [&of] { of.start(0); });
    of.busy(0, 0, ms(2100));
    of.at(ms(2000), [&of] {
        of.remember();
        of.cut_off(0, ms(3750));
    });
    of.at(ms(2100), [&of] { of.start(1); });
    of.busy(1, ms(3000), busy);
    of.at(ms(3700), [&of] {
        of.cut_off(1, ms(9000));
        of.fail_over();
    });
    of.busy(0, ms(3750), busy);
}

// Gateway 0, which the only other one does not know, comes into an epoch that was learned without
// it, and its calls about counters are lost. Both have requests until `busy`.
inline void come_unheard(Simulation& of, Instant busy) {
    of.at(0, [&of] { of.start(2, 10s); });
    of.at(ms(300), [&of] { of.leave(2); });
    of.at(ms(12'000), [&of] { of.remember(); });
    of.at(ms(12'100), [&of] { of.start(0, 10s); });
    of.at(ms(13'000), [&of] { of.trust(0); });
    of.busy(0, ms(14'000), busy);
    of.at(ms(20'000), [&of] {
        of.fail_over();
        of.cut_off(0, ms(24'700));
    });
    of.at(ms(20'010), [&of] { of.start(1, 10s); });
    of.at(ms(20'300), [&of] { of.cut_off(1, ms(25'950)); });
    of.at(ms(25'900), [&of] {
        of.cut_off(0, ms(31'000));
        of.flush();
    });
    of.at(ms(30'900), [&of] { of.lose_syncs(0, ms(60'000)); });
    of.busy(1, ms(31'150), busy);
}

// Gateway 1 has just become active when the store forgets it, and what it is granted. Its first
// beat arrives once more, so long after it was sent.
inline void repeat_a_first_beat(Simulation& of, Duration later) {
    of.at(0, [&of] { of.start(0); });
    of.at(ms(500), [&of] { of.trust(0); });
    of.at(ms(1990), [&of] { of.remember(); });
    of.at(ms(2000), [&of, later] {
        of.repeat_next_beat(1, later);
        of.start(1);
    });
    of.busy(1, ms(2300), ms(2950));
    of.at(ms(2400), [&of] {
        of.cut_off(1, ms(2700));
        of.fail_over();
    });
    of.busy(0, ms(2430), ms(2950));
}

// The time to live is 1 s, N is 10, and a gateway is quiet 1 s and 1.1 of `per` and 250 ms after
// the store's first call.
inline constexpr Scenario all[] = {
    {"a gateway was given up, its share passed on, and the store forgets both", 300ms,
     "a session out of its time confirms",
     [](Simulation& of) { forget_who_was_given_up(of, ms(4300)); }},
    {"a gateway was given up, and a beat from before that arrives late", 300ms,
     "a late beat is taken for the latest",
     [](Simulation& of) {
         forget_who_was_given_up(of, ms(4600));
         of.at(ms(2400), [&] { of.repeat_next_beat(0, 1450ms); });
     }},
    {"a gateway's first beat arrives again when the store has forgotten it", 300ms,
     "a session that others list had never been active",
     [](Simulation& of) { repeat_a_first_beat(of, 401ms); }},
    {"a gateway's first beat arrives again when another one has listed it anew", 300ms,
     "a late beat tells that its session had never been active",
     [](Simulation& of) { repeat_a_first_beat(of, 500ms); }},
    {"a gateway's first beat arrives again when its session was given up and forgotten", 300ms,
     "a late beat brings back a session that was forgotten",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(500), [&] { of.trust(0); });
         of.at(ms(2000), [&] {
             of.repeat_next_beat(1, 5000ms);
             of.start(1);
         });
         of.busy(1, ms(3000), ms(3900));
         of.at(ms(3900), [&] { of.cut_off(1, ms(7300)); });
         of.busy(0, ms(5000), ms(8500));
         of.busy(1, ms(7300), ms(8500));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 9s},
    {"a beat from before a session was active adds it to a store that has forgotten it", 300ms,
     of_session,
     [](Simulation& of) {
         of.at(0, [&] { of.start(2); });
         of.at(ms(500), [&] { of.trust(2); });
         of.at(ms(1500), [&] { of.leave(2); });
         of.at(ms(1990), [&] { of.remember(); });
         of.at(ms(2000), [&] {
             of.lose_beats(0, ms(2299));
             of.repeat_next_beat(0, 102ms);
             of.start(0);
         });
         of.at(ms(2050), [&] { of.repeat_next_beat(0, 200ms); });
         of.busy(0, ms(2103), ms(5900));
         of.at(ms(2190), [&] { of.lose_syncs(0, ms(9000)); });
         of.at(ms(2200), [&] { of.fail_over(); });
         of.at(ms(2400), [&] { of.start(1); });
         of.busy(1, ms(3500), ms(5900));
     },
     Scenario::Breaks::number, 10, 0, 3},
    {"a beat from before another gateway joined begins an epoch", 300ms, of_session,
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(500), [&] { of.trust(0); });
         of.at(ms(1990), [&] { of.remember(); });
         of.at(ms(2020), [&] { of.start(1); });
         of.at(ms(2020) + 500'000, [&] {
             of.lose_beats(0, ms(2201));
             of.repeat_next_beat(0, 102ms);
         });
         of.at(ms(2150), [&] { of.repeat_next_beat(0, 200ms); });
         of.at(ms(2227) + 930'000, [&] { of.cut_off(0, ms(2400)); });
         of.at(ms(2300), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(1, ms(2110), ms(2900));
         of.busy(0, ms(2401), ms(2900));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 6s, 60},
    {"a session is forgotten, comes back by the same name, and the store forgets that", 300ms,
     "a caller from an epoch that is known knows of nothing that is lost",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(500), [&] { of.trust(0); });
         of.at(ms(2000), [&] { of.start(1); });
         of.at(ms(2000) + 305'000, [&] { of.cut_off(1, ms(4020)); });
         of.at(ms(3990), [&] { of.remember(); });
         of.busy(1, ms(4100), ms(4900));
         of.at(ms(4500), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
             of.step_store_clock(-3s);
         });
         of.busy(0, ms(4510), ms(4900));
     }},
    // The replica is as it was between gateway 0's first two calls at the new primary.
    {"a dead session comes back with an epoch of which the store forgets all but the beginning", 2500ms,
     "a caller from an epoch that is known knows of nothing that is lost",
     [](Simulation& of) {
         forget_a_death(of);
         of.busy(1, ms(4850), ms(7400));
         of.at(ms(5000), [&] {
             of.cut_off(1, ms(5250));
             of.fail_over();
         });
         of.busy(0, ms(5003), ms(5010));
         of.at(ms(5004) + 359'000, [&] { of.remember(); });
         of.at(ms(5450), [&] {
             of.cut_off(1, ms(11000));
             of.fail_over();
         });
         of.busy(0, ms(5500), ms(7900));
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::first_request, false, 0, 0, 8s, 200},
    {"the store forgets all, and a gateway with a longer time to live than the others' is away", 300ms,
     "a listed session has its caller's time to live",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0, 6s);
             of.start(1);
         });
         of.at(ms(500), [&] { of.trust(1); });
         of.busy(0, ms(6000), ms(10'900));
         of.at(ms(7000), [&] {
             of.cut_off(0, ms(19'000));
             of.flush();
         });
         of.busy(1, ms(8000), ms(10'900));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 11s},
    {"the store forgets a share, and its holder dies before it can tell", 900ms,
     "an epoch is learned without one that died untold",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(2500), [&] { of.remember(); });
         of.busy(1, ms(2510), ms(3800));
         of.at(ms(3000), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(4060), ms(5500));
     }},
    {"the store forgets a death, the gateway comes back, and the store forgets that", 2500ms,
     "a session that was dead before the lost epochs stays dead",
     [](Simulation& of) {
         forget_a_death(of);
         of.busy(1, ms(4600), ms(4900));
         of.at(ms(5000), [&] {
             of.cut_off(1, ms(11000));
             of.fail_over();
         });
         of.busy(0, ms(5050), ms(7050));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 8s, 200},
    {"the store falls back to an epoch with a higher number than the one it loses", 2500ms,
     "epochs that are lost have higher numbers",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(1000), [&] { of.trust(0); });
         of.busy(1, ms(1500), ms(1600));
         of.at(ms(1700), [&] { of.cut_off(1, ms(3900)); });
         for (const int at : {2000, 3300})
             of.at(ms(at), [&] {
                 of.remember();
                 of.fail_over();
             });
         of.at(ms(3500), [&] { of.leave(0); });
         of.at(ms(3600), [&] { of.remember(); });
         of.at(ms(3700), [&] { of.flush(); });
         of.at(ms(3710), [&] { of.start(2); });
         of.busy(1, ms(8600), ms(8900));
         of.at(ms(9000), [&] {
             of.cut_off(1, ms(15000));
             of.fail_over();
         });
         of.busy(2, ms(9050), ms(11050));
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::first_request, false, 0, 0, 12s, 200},
    {"the store forgets all twice, and a gateway is heard by nobody else in between", 300ms,
     "who vouches knows of all that live",
     [](Simulation& of) {
         miss_each_other(of, ms(31600));
         of.at(ms(25900), [&] {
             of.cut_off(0, ms(60000));
             of.flush();
         });
         of.busy(1, ms(31150), ms(33000));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 35s, 200},
    {"the store forgets all three times, and each gateway is heard only while the other is not", 300ms,
     "who vouches knows of all that live",
     [](Simulation& of) {
         miss_each_other(of, ms(44500));
         of.at(ms(25900), [&] {
             of.cut_off(0, ms(31540));
             of.flush();
         });
         of.at(ms(31500), [&] { of.cut_off(1, ms(36950)); });
         of.at(ms(36900), [&] {
             of.cut_off(0, ms(90000));
             of.flush();
         });
         of.busy(1, ms(41400), ms(44500));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 45s, 200},
    // Gateway 1 hears the store, but not who has come, when the other one is back.
    {"the store forgets all three times, and a gateway's beats have been lost for a while", 300ms,
     "who vouches has heard at each call who lives",
     [](Simulation& of) {
         miss_each_other(of, ms(60'000));
         of.at(ms(25'900), [&] {
             of.cut_off(0, ms(31'300));
             of.flush();
         });
         of.at(ms(30'000), [&] { of.lose_beats(1, ms(35'635)); });
         of.at(ms(35'635), [&] {
             of.cut_off(0, ms(60'000));
             of.flush();
         });
         of.busy(1, ms(33'450), ms(37'900));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 38s, 200},
    {"a gateway comes into an epoch that was learned without it, and its shares are not heard", 300ms,
     "a session that is heard has told its shares",
     [](Simulation& of) { come_unheard(of, ms(38'000)); }, Scenario::Breaks::number, 10, 0, 3,
     limits::Anchor::first_request, false, 0, 0, 39s, 200},
    {"a gateway comes into an epoch that was learned without it, and dies before it can tell", 6s,
     "an epoch is learned without one that died untold",
     [](Simulation& of) {
         come_unheard(of, ms(46'000));
         of.at(ms(33'000), [&] { of.cut_off(0, ms(60'000)); });
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::first_request, false, 0, 0, 46s, 200},
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
         start_both(of);
         of.busy(0, ms(2000), ms(2200));
         of.busy(1, ms(2000), ms(2200));
         of.at(ms(2790), [&] { of.repeat_next_call(0, 250ms); });
         of.busy(0, ms(2800), ms(4000));
         of.at(ms(3000), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(3020), ms(4000));
     }},
    {"the store forgets everything, begins in doubt, and fails over", 300ms,
     "an epoch after one in doubt is trusted",
     [](Simulation& of) {
         start_both(of);
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
         start_both(of);
         of.busy(0, ms(2500), ms(3700));
         of.at(ms(3000), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(3900), ms(4600));
     }},
    {"the store forgets everything, a gateway is cut off, and one starts that knows nothing", 900ms,
     "an epoch is quiet before former use has aged",
     [](Simulation& of) {
         start_both(of);
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
         start_both(of);
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
         start_both(of);
         of.at(ms(2430), [&] { of.remember(); });
         of.at(ms(2500), [&] { of.lose_syncs(1, ms(9000)); });
         of.busy(1, ms(2440), ms(5000));
         of.at(ms(2600), [&] { of.fail_over(); });
         of.busy(0, ms(4300), ms(5000));
     }},
    {"a gateway leaves, and the store forgets what it has used", 900ms,
     "what a session held that has ended is forgotten with the store",
     [](Simulation& of) {
         start_both(of);
         of.busy(1, ms(2500), ms(3600));
         of.at(ms(3600), [&] { of.leave(1); });
         of.at(ms(3800), [&] { of.flush(); });
         of.busy(0, ms(3900), ms(4600));
     }},
    {"the same, and the store's clock is ahead of the former one's", 2500ms,
     "the age of what is known is told by a clock that began anew",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(1000), [&] { of.trust(0); });
         of.at(ms(2200), [&] { of.step_store_clock(5s); });
         of.busy(1, ms(3500), ms(3600));
         of.at(ms(3600), [&] { of.leave(1); });
         of.at(ms(4900), [&] { of.flush(); });
         of.busy(0, ms(5000), ms(5950));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 6s, 200},
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
    {"another primary serves, and does not know a share", 300ms, "another primary is not noticed",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(2000), [&] { of.remember(); });
         of.busy(0, ms(2010), ms(2600));
         of.at(ms(2200), [&] { of.fail_over(); });
         of.busy(1, ms(2205), ms(2600));
     }},
    {"a gateway goes on after its share was passed on", 300ms, shares_outlive_sessions,
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2400));
         of.at(ms(2400), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(3000), ms(4600));
         of.busy(0, ms(4200), ms(4600));
     }},
    {"a gateway reloads with a lower number, and another one does not", 300ms,
     "each gateway's own number holds",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(5500));
         of.busy(1, ms(2000), ms(5500));
         of.at(ms(2500), [&] { of.reload(1, 5); });
     },
     Scenario::Breaks::number, 5, ms(3500)},
    {"the store forgets everything, and one that was refused a session knows a later time", 300ms,
     "what is known grows older when the clock jumps",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(50), [&] { of.start_as(2, 0); });
         of.busy(0, ms(3800), ms(4600));
         of.at(ms(4000), [&] { of.step_store_clock(-2s); });
         of.at(ms(4030), [&] {
             of.cut_off(0, ms(9000));
             of.flush();
         });
         of.at(ms(4040), [&] { of.start(1); });
         of.busy(2, ms(4060), ms(4600));
     },
     Scenario::Breaks::number, 10, 0, 3},
    {"the store's clock steps forward, a gateway is cut off, and another one calls often", 300ms,
     "a step forward is believed",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2800), ms(3700));
         of.at(ms(3000), [&] { of.cut_off(0, ms(9000)); });
         of.at(ms(3010), [&] { of.step_store_clock(5s); });
         of.busy(1, ms(3020), ms(5000));
     }},
    {"the store's clock steps over the time that counters are kept", 300ms,
     "a step of the store's clock is not noticed",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2800), ms(3700));
         of.at(ms(3000), [&] { of.step_store_clock(1h); });
         of.busy(1, ms(3001), ms(3700));
     }},
    {"a gateway leaves, and the store's clock steps over the time that counters are kept", 900ms,
     "what a session held that has ended is forgotten with a step",
     [](Simulation& of) {
         start_both(of);
         of.busy(1, ms(2500), ms(3640));
         of.at(ms(3640), [&] { of.leave(1); });
         of.at(ms(3745), [&] { of.step_store_clock(1h); }); // once it has left
         of.busy(0, ms(3746), ms(4400));
     }},
    {"for an hour there is no gateway, and then one starts", 300ms,
     "a time without gateways passes for a step",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.busy(0, ms(2000), ms(2300));
         of.at(ms(2300), [&] { of.leave(0); });
         of.at(ms(2500), [&] { of.pass_time(1h); });
         of.at(ms(2600), [&] { of.start(1); });
         of.busy(1, ms(2700), ms(3600));
     },
     Scenario::Breaks::demand},
    {"all gateways are cut off for ten minutes from a store that goes on", 300ms,
     "a long time without calls passes for a step",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.busy(0, ms(2000), ms(2300));
         of.at(ms(2400), [&] { of.cut_off(0, ms(2600)); });
         of.at(ms(2500), [&] { of.pass_time(10min); });
         of.busy(0, ms(2700), ms(3900));
     },
     Scenario::Breaks::demand},
    {"gateways have different times to live, and the one with the longer one is cut off", 300ms,
     "a session ends by another one's time to live",
     [](Simulation& of) {
         of.at(0, [&] {
             of.start(0, 3s);
             of.start(1);
         });
         of.busy(0, ms(3700), ms(5900));
         of.at(ms(4000), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(5600), ms(5900));
     }},
    {"the store forgets the last seconds, and one that has just started calls first", 300ms,
     "what the store has not lost is as old as its own clock says",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(1700), [&] { of.remember(); });
         of.busy(0, ms(3950), ms(4400));
         of.at(ms(4010), [&] {
             of.cut_off(0, ms(9000));
             of.fail_over();
         });
         of.at(ms(4012), [&] { of.start(2); });
         of.busy(1, ms(4013), ms(5000));
         of.busy(2, ms(4013), ms(5000));
     },
     Scenario::Breaks::number, 10, 0, 3},
    {"the store forgets that two that were joining have joined", 300ms,
     "a session that was joining has held nothing",
     [](Simulation& of) {
         of.at(0, [&] { of.start(0); });
         of.at(ms(2000), [&] {
             of.start(1);
             of.start(2);
         });
         of.at(ms(2001), [&] { of.remember(); });
         of.busy(1, ms(2350), ms(3000));
         of.at(ms(2450), [&] {
             of.cut_off(1, ms(9000));
             of.cut_off(2, ms(9000));
             of.fail_over();
         });
         of.busy(0, ms(2455), ms(3000));
     },
     Scenario::Breaks::number, 10, 0, 3},
    // Windows begin 400 ms behind each 700 ms of true time.
    {"a gateway whose clock is ahead leaves a window that another one then enters", 700ms,
     "a gateway's window by the clock is over for all when it is over for one",
     [](Simulation& of) {
         start_both(of);
         of.set_wall_clock(0, 950ms);
         of.busy(0, ms(2255), ms(2580));
         of.at(ms(2580), [&] { of.leave(0); });
         of.busy(1, ms(3605), ms(3890));
         of.busy(1, ms(5300), ms(5900));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::clock},
    {"a gateway's first call tells a window of the next day", 300ms,
     "a window that a wrong clock has told is never over",
     [](Simulation& of) {
         start_both(of);
         of.set_wall_clock(0, 24h);
         of.busy(0, ms(2000), ms(2050));
         of.at(ms(2300), [&] { of.set_wall_clock(0, 0ms); });
         of.busy(1, ms(2500), ms(5500));
     },
     Scenario::Breaks::demand, 10, 0, 2, limits::Anchor::clock},
    {"an operator trusts a store, which later forgets in which window a share was used", 700ms,
     "an operator's word holds for what is lost later",
     [](Simulation& of) {
         start_both(of);
         of.set_wall_clock(0, 950ms);
         of.at(ms(500), [&] { of.trust(0); });
         of.busy(0, ms(2255), ms(2700));
         of.busy(1, ms(2955), ms(3188));
         of.at(ms(3238), [&] {
             of.flush();
             of.step_store_clock(-3s);
         });
         of.busy(1, ms(3340), ms(3890));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::clock},
    {"the store forgets which fences it gave out, and the next clock is a little less ahead", 300ms,
     "fencing numbers do not follow the callers' clocks",
     [](Simulation& of) {
         of.set_wall_clock(0, 10s);
         of.set_wall_clock(1, 9900ms);
         lose_fences(of);
     },
     Scenario::Breaks::number, 1, 0, 2, limits::Anchor::first_request, true},
    {"the store forgets which fences it gave out, and the next clock is behind", 300ms,
     "fencing numbers begin anew with the store",
     [](Simulation& of) {
         of.set_wall_clock(1, -10s);
         lose_fences(of);
     },
     Scenario::Breaks::number, 1, 0, 2, limits::Anchor::first_request, true},
    {"a window is given up while one that a wrong clock has told is not over", 300ms,
     "a window that a wrong clock has told hides those of others",
     [](Simulation& of) {
         of.set_wall_clock(0, 480ms);
         of.set_wall_clock(1, -480ms);
         of.set_wall_clock(2, 1h);
         start(of, 3);
         of.busy(0, ms(2820), ms(2910));
         of.busy(2, ms(2900), ms(2906));
         of.at(ms(2950), [&] { of.kill(2); });
         of.busy(0, ms(3120), ms(3185));
         of.busy(1, ms(3800), ms(3850));
         of.busy(1, ms(4110), ms(4370));
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::clock, false, 0, 0, 6s, 60},
    {"a gateway with a lower burst calls last, and its counter is kept for less time", 300ms,
     "a counter is kept for as long as its last caller says",
     [](Simulation& of) {
         of.reload(1, 10, 10);
         start_both(of);
         of.busy(0, ms(101'000), ms(275'000));
         of.at(ms(188'990), [&] { of.cut_off(0, ms(189'520)); });
         of.busy(1, ms(189'000), ms(189'100));
         of.busy(1, ms(260'000), ms(274'000));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 3000, 10, 275s},
    {"a gateway that held nothing dies, and another one starts when some know of that", 300ms,
     "an ended session is forgotten before all have heard of its end",
     [](Simulation& of) {
         start(of, 3);
         of.at(ms(1500), [&] { of.kill(2); });
         of.at(ms(2560), [&] { of.start(3); });
         of.busy(3, ms(2700), ms(3400));
     },
     Scenario::Breaks::demand, 10, 0, 4},
    {"a gateway reloads with a burst of 1", 300ms, "a part of a bucket is one of any number",
     [](Simulation& of) {
         of.reload(1, 100, 1);
         start_both(of);
         of.busy(1, ms(2000), ms(5900));
         of.at(ms(2049), [&] { of.lose_syncs(1, ms(3500)); });
         of.busy(0, ms(2050), ms(5900));
     },
     Scenario::Breaks::number, 100, 0, 2, limits::Anchor::first_request, false, 100, 1},
    {"a gateway knows the fences that the store forgets, and its clock is years ahead", 300ms,
     "a fence that is not believed hides another one",
     [](Simulation& of) {
         of.set_wall_clock(0, 24h * 800);
         of.set_wall_clock(1, 20s);
         start(of, 3);
         of.at(ms(1900), [&] { of.remember(); });
         of.busy(1, ms(2000), ms(2200));
         of.busy(0, ms(2400), ms(3600));
         of.at(ms(2600), [&] { of.leave(1); });
         of.at(ms(3700), [&] { of.fail_over(); });
         of.busy(2, ms(6500), ms(7900));
     },
     Scenario::Breaks::number, 1, 0, 3, limits::Anchor::first_request, true, 0, 0, 8s},
    // Gateway 1 grants leases for half as long.
    {"the store forgets leases that last for longer than others grant, and their gateway dies", 6s,
     "the longest lease of others is not known",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(500), [&] { of.trust(0); });
         of.busy(0, ms(600), ms(700));
         of.at(ms(70'000), [&] { of.remember(); });
         of.busy(0, ms(70'800), ms(71'000));
         of.at(ms(71'000), [&] {
             of.fail_over();
             of.kill(0);
         });
         of.busy(1, ms(71'100), ms(82'000));
     },
     Scenario::Breaks::number, 8, 0, 2, limits::Anchor::first_request, true, 0, 0, 83s, 100},
    {"gateways leave one after the other, each with its burst used, and those with a lower burst "
     "call",
     300ms, "a share counts for as long as the caller's burst says",
     [](Simulation& of) {
         of.reload(1, 10, 10);
         start(of, 3);
         of.busy(0, ms(12'000), ms(13'000));
         of.at(ms(13'000), [&] { of.leave(0); });
         of.busy(1, ms(14'600), ms(15'000));
         of.busy(2, ms(15'000), ms(16'500));
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::first_request, false, 300, 10, 17s, 40},
    {"a gateway has used its burst, reloads with a lower one, and dies", 300ms,
     "a session's span is that of its latest file",
     [](Simulation& of) {
         of.reload(1, 10, 10);
         start(of, 3);
         of.busy(0, ms(12'000), ms(13'000));
         of.at(ms(13'000), [&] { of.reload(0, 10, 10); });
         of.busy(0, ms(13'000), ms(13'200));
         of.busy(1, ms(13'300), ms(13'350));
         of.at(ms(13'800), [&] { of.kill(0); });
         of.busy(1, ms(15'500), ms(16'000));
         of.busy(2, ms(16'000), ms(17'500));
     },
     Scenario::Breaks::number, 10, 0, 3, limits::Anchor::first_request, false, 300, 10, 18s, 40},
    // The store ends gateway 1's session with gateway 0's beat of 4,006.7 ms, whose reply is lost.
    {"a gateway dies before it can tell, and the store fails over when it has just noticed", 2s,
     "an epoch begins without those that died untold",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(900), [&] { of.trust(0); });
         of.at(ms(2500), [&] { of.remember(); });
         of.busy(1, ms(2510), ms(3600));
         of.at(ms(3000), [&] {
             of.cut_off(1, ms(9000));
             of.fail_over();
         });
         of.at(ms(4006) + 860'000, [&] {
             of.remember();
             of.fail_over();
             of.cut_off(0, ms(4007) + 860'000);
         });
         of.busy(0, ms(3800), ms(7900));
     },
     Scenario::Breaks::number, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 8s, 8},
    {"a gateway gives all up, and the store forgets that", 300ms,
     "what a gateway has given up counts again if the store has lost that",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2100));
         of.at(ms(7000), [&] { of.remember(); });
         of.at(ms(7500), [&] { of.fail_over(); });
         of.busy(1, ms(8000), ms(15'000));
     },
     Scenario::Breaks::demand, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 16s},
    {"the store forgets all, a gateway dies, and an operator says that none holds anything", 9s,
     "an operator's word does not hold for those that have died untold",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(500), [&] { of.trust(0); });
         of.at(ms(2000), [&] {
             of.flush();
             of.cut_off(1, ms(9000));
         });
         of.at(ms(5000), [&] { of.trust(0); });
         of.busy(0, ms(5100), ms(7900));
     },
     Scenario::Breaks::demand, 10, 0, 2, limits::Anchor::first_request, false, 0, 0, 8s},
    {"a gateway that held nothing leaves, and the store fails over", 4s,
     "a session counts after what it held has aged",
     [](Simulation& of) {
         start(of, 3);
         of.at(ms(900), [&] { of.trust(0); });
         of.busy(0, ms(2000), ms(2100));
         of.at(ms(9000), [&] { of.leave(2); });
         of.at(ms(9700), [&] { of.remember(); });
         of.at(ms(9701), [&] { of.fail_over(); });
         of.busy(1, ms(10'000), ms(14'500));
     },
     Scenario::Breaks::demand, 10, 0, 3, limits::Anchor::first_request, false, 0, 0, 15s, 30},
    {"a lock is given up, and the store forgets that", 300ms,
     "what a gateway has given up counts again if the store has lost that",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2100));
         of.at(ms(7000), [&] { of.remember(); });
         of.at(ms(9500), [&] { of.fail_over(); });
         of.busy(1, ms(10'000), ms(19'000));
     },
     Scenario::Breaks::demand, 1, 0, 2, limits::Anchor::first_request, true, 0, 0, 20s},
    {"a counter is forgotten, and its last call arrives a second time", 300ms, calls_by_counter,
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2100));
         of.at(ms(2100), [&] { of.repeat_next_return(0, 250ms); });
         of.busy(1, ms(2300), ms(2330));
         of.busy(0, ms(2660), ms(3500));
         of.at(ms(2750), [&] { of.cut_off(0, ms(9000)); });
         of.busy(1, ms(2762), ms(3500));
     }},
    {"a call arrives when its gateway has long given everything up", 300ms,
     "a call is carried out however late",
     [](Simulation& of) {
         start_both(of);
         of.at(ms(2150), [&] { of.repeat_next_call(0, 1s); });
         of.busy(0, ms(2000), ms(2100));
         of.busy(1, ms(2300), ms(2330));
         of.at(ms(2700), [&] { of.leave(1); });
         of.at(ms(2900), [&] { of.start(1); });
         of.busy(1, ms(3700), ms(5500));
     },
     Scenario::Breaks::demand},
    {"demand moves to a gateway whose calls are lost for a while", 300ms,
     "what is given up stays counted",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2500));
         of.busy(1, ms(2500), ms(5500));
         of.at(ms(2500), [&] { of.lose_syncs(1, ms(2600)); });
     },
     Scenario::Breaks::demand},
    {"a gateway holds all, and another one gets the clients", 300ms,
     "nobody hears what others want",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(2020));
         of.busy(1, ms(2700), ms(5500));
     },
     Scenario::Breaks::demand},
    {"a gateway has used the only unit, and another one gets the clients", 300ms,
     "a reserve counts as much as a need",
     [](Simulation& of) {
         start_both(of);
         of.busy(1, ms(2000), ms(2100));
         of.busy(0, ms(3000), ms(5900));
     },
     Scenario::Breaks::demand, 1},
    {"a key has clients at one gateway only", 300ms, "a gateway that is alone gets a part",
     [](Simulation& of) {
         start_both(of);
         of.busy(0, ms(2000), ms(5500));
     },
     Scenario::Breaks::demand},
};

} // namespace scenarios

// The terms of a scenario's run.
inline ScheduleTerms terms_of(const Scenario& scenario) {
    ScheduleTerms terms;
    terms.per = scenario.per;
    terms.gateways = scenario.gateways;
    terms.anchor = scenario.anchor;
    if (scenario.anchor == limits::Anchor::clock)
        terms.algorithm = limits::Algorithm::fixed_window;
    terms.length = scenario.length;
    if (scenario.burst > 0) {
        terms.algorithm = limits::Algorithm::token_bucket;
        terms.burst = scenario.burst;
        terms.other_burst = scenario.other_burst;
        terms.number = terms.other_number = scenario.number;
    }
    if (scenario.from == 0)
        terms.number = terms.other_number = scenario.number;
    if (scenario.lock) {
        terms.lock = true;
        terms.algorithm = limits::Algorithm::concurrency;
    }
    terms.demand = scenario.demand;
    terms.phase = Duration{0};
    terms.starts = false;
    terms.faults = false;
    return terms;
}

} // namespace stint::shared
