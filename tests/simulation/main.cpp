// Shared limits in virtual time, by many random schedules of faults:
//   shared_simulation schedules MODE COUNT [FIRST]   each keeps its limit's promise
//   shared_simulation mutants COUNT [NAME]           each other safeguard of the script is needed
//   shared_simulation play [NUMBER [mutant]]         the schedules that are written down; tells one
//   shared_simulation split MODE COUNT [FIRST]       so, too, with several primaries at a time,
//   told of by
//                                                    Sentinels; not if one Sentinel's word is
//                                                    enough
//   shared_simulation migrations MODE COUNT [FIRST]  so, too, while the hash slot moves between
//                                                    nodes; not if the store does not notice it
//   shared_simulation calm MODE                      how much is admitted without faults
//   shared_simulation recovers MODE COUNT [FIRST]    when all faults have ended, one gateway is
//                                                    admitted all that there is
//   shared_simulation fair MODE                      whose requests are admitted where there is
//                                                    little
//   shared_simulation tell MODE SCHEDULE             what happens in one schedule
// MODE: sliding, fixed, clock, bucket, lock; with a + behind it: the wall clocks of gateways are up
// to a second apart, and a store may lose more than two seconds. The same arguments make the same
// schedules.
#include "mutants.hpp"
#include "scenarios.hpp"
#include "shared/store_script.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace stint;
using namespace stint::shared;
using namespace std::chrono_literals;

namespace {

struct Mode {
    std::string name;
    limits::Algorithm algorithm;
    limits::Anchor anchor;
    bool lock = false;
    bool wide = false; // with a +
};

const std::vector<Mode>& modes() {
    using limits::Algorithm;
    using limits::Anchor;
    static const std::vector<Mode> all{
        {"sliding", Algorithm::sliding_window, Anchor::first_request},
        {"fixed", Algorithm::fixed_window, Anchor::first_request},
        {"clock", Algorithm::fixed_window, Anchor::clock},
        {"bucket", Algorithm::token_bucket, Anchor::first_request},
        {"lock", Algorithm::concurrency, Anchor::first_request, true}};
    return all;
}

Mode mode_named(const std::string& name) {
    const bool wide = name.ends_with('+');
    for (Mode mode : modes()) {
        mode.wide = wide;
        mode.name += wide ? "+" : "";
        if (mode.name == name)
            return mode;
    }
    throw std::invalid_argument{"there is no mode " + name};
}

ScheduleTerms random_terms(std::uint64_t seed, const Mode& mode) {
    std::mt19937_64 random{seed};
    ScheduleTerms terms;
    terms.algorithm = mode.algorithm;
    terms.anchor = mode.anchor;
    terms.seed = seed;
    terms.gateways = 2 + static_cast<int>(random() % 4);
    terms.number = 1 + random() % (random() % 2 == 0 ? 4 : 30);
    terms.per = std::chrono::milliseconds{100 + random() % 700};
    terms.phase = std::chrono::milliseconds{200 + random() % 1500};
    terms.demand = static_cast<double>(terms.gateways) * static_cast<double>(1 + random() % 3);
    if (mode.algorithm == limits::Algorithm::token_bucket)
        terms.burst = 1 + random() % (2 * terms.number);
    if (mode.lock) {
        terms.lock = true;
        terms.number = random() % 3 == 0 ? 2 + random() % 3 : 1;      // most are mutexes
        terms.per = std::chrono::milliseconds{100 + random() % 1900}; // to twice a session
        terms.demand *= 4;
        terms.length = 10s;
    }
    if (mode.wide) {
        terms.apart = 480ms;
        terms.most_lost = 2500ms;
        terms.length = std::max<Duration>(terms.length, 8s);
    }
    const bool reloads = terms.burst == 0 && !mode.lock && random() % 4 == 0;
    terms.other_number = reloads ? 1 + random() % (2 * terms.number) : terms.number;
    if (terms.burst > 0 && random() % 4 == 0) {
        terms.other_number = 1 + random() % (2 * terms.number);
        terms.other_burst = 1 + random() % (2 * terms.other_number);
    }
    if (seed % 8 == 7) { // spans longer than a session
        terms.per *= mode.lock ? 2 : 5;
        terms.demand *= 2;
        terms.length = 12s;
        terms.trusted_at = 1200ms; // else what is held in the first seconds is too little
    }
    if (!mode.lock && random() % 3 == 0)
        for (int gateway = 0; gateway < terms.gateways; ++gateway)
            terms.costs.push_back(1 + random() % terms.number);
    return terms;
}

int schedules(const Mode& mode, std::uint64_t count, std::uint64_t first) {
    LuaStore store{store_script()};
    std::uint64_t broken = 0;
    std::uint64_t admitted = 0;
    std::uint64_t asked = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const ScheduleTerms terms = random_terms(seed, mode);
        const Outcome outcome = Simulation{terms, store}.run();
        admitted += outcome.admitted.size();
        asked += outcome.asked;
        const std::string how = broken_promise(terms, outcome);
        if (!how.empty() && ++broken <= 5)
            std::cout << mode.name << " schedule " << seed << ": " << how << "\n";
    }
    std::cout << mode.name << ": " << count << " schedules, " << asked << " requests, " << admitted
              << " admitted, " << broken << " schedules above the number\n";
    return broken == 0 && admitted > 0 ? 0 : 1;
}

// A primary that another one has replaced goes on serving gateways that have not been told.
int split(const Mode& mode, std::uint64_t count, std::uint64_t first) {
    LuaStore store{store_script()};
    std::uint64_t admitted = 0;
    const auto broken = [&](bool majority) {
        std::uint64_t found = 0;
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            ScheduleTerms terms = random_terms(seed, mode);
            terms.sentinels = 3;
            terms.majority = majority;
            terms.length = 10s;
            const Outcome outcome = Simulation{terms, store}.run();
            admitted += majority ? outcome.admitted.size() : 0;
            const std::string how = broken_promise(terms, outcome);
            if (!how.empty() && ++found <= 5 && majority)
                std::cout << mode.name << " schedule " << seed << ": " << how << "\n";
        }
        return found;
    };
    const std::uint64_t by_majority = broken(true);
    const std::uint64_t by_one = broken(false);
    std::cout << mode.name << ": " << count << " schedules with several primaries, " << admitted
              << " admitted, " << by_majority << " above the number; " << by_one
              << " if one Sentinel's word is enough\n";
    return by_majority == 0 && by_one > 0 && admitted > 0 ? 0 : 1;
}

std::string script_without(std::string_view safeguard) {
    const auto mutant = std::ranges::find(mutants, safeguard, &Mutant::name);
    return mutant != std::end(mutants) ? mutated(*mutant) : store_script();
}

// The hash slot moves, while all else goes wrong as well.
int migrations(const Mode& mode, std::uint64_t count, std::uint64_t first) {
    std::uint64_t admitted = 0;
    const auto broken = [&](LuaStore& store, bool whole) {
        std::uint64_t found = 0;
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            ScheduleTerms terms = random_terms(seed, mode);
            terms.migrates = true;
            terms.keys = 2;
            terms.length = 10s;
            const Outcome outcome = Simulation{terms, store}.run();
            admitted += whole ? outcome.admitted.size() : 0;
            const std::string how = broken_promise(terms, outcome);
            if (!how.empty() && ++found <= 5 && whole)
                std::cout << mode.name << " schedule " << seed << ": " << how << "\n";
        }
        return found;
    };
    LuaStore store{store_script(true)};
    const std::uint64_t noticed = broken(store, true);
    bool good = noticed == 0 && admitted > 0;
    std::cout << mode.name << ": " << count << " schedules with a slot that moves, " << admitted
              << " admitted, " << noticed << " above the number";
    for (const Mutant& mutant : migration_mutants) {
        LuaStore blind{mutated(mutant, true)};
        const std::uint64_t unnoticed = broken(blind, false);
        std::cout << "; " << unnoticed << " if " << mutant.name;
        good = good && unnoticed > 0;
    }
    std::cout << "\n";
    return good ? 0 : 1;
}

Outcome outcome_of(const Scenario& scenario, LuaStore& store, bool mutant, bool tell = false) {
    Simulation simulation{terms_of(scenario), store, tell};
    if (mutant && scenario.mutant == shares_outlive_sessions)
        simulation.let_shares_outlive_sessions();
    if (mutant && scenario.mutant == calls_by_counter)
        simulation.number_calls_by_counter();
    scenario.play(simulation);
    return simulation.run();
}

std::string broken_by(const Scenario& scenario, const Outcome& outcome) {
    ScheduleTerms terms = terms_of(scenario);
    if (outcome.admitted.size() < terms.number)
        return "too little was admitted";
    if (std::string broken = broken_promise(terms, outcome); !broken.empty())
        return broken;
    Outcome later = outcome;
    std::erase_if(later.admitted, [&](const Admission& each) { return each.at < scenario.from; });
    terms.number = terms.other_number = scenario.number;
    return broken_promise(terms, later);
}

// Returns what a mutant has broken; empty: nothing. whole: without the mutant.
std::string
broken_by_mutant(const Scenario& scenario, const Outcome& outcome, const Outcome& whole) {
    if (scenario.breaks == Scenario::Breaks::number)
        return broken_by(scenario, outcome);
    const std::size_t admitted = outcome.admitted.size();
    return 10 * admitted >= 9 * whole.admitted.size()
               ? ""
               : std::to_string(admitted) + " admitted instead of " +
                     std::to_string(whole.admitted.size());
}

std::string broken_without_safeguard(const Scenario& scenario, const Outcome& whole) {
    if (scenario.mutant == of_session)
        return "fails there";
    LuaStore without{script_without(scenario.mutant)};
    return broken_by_mutant(scenario, outcome_of(scenario, without, true), whole);
}

// Plays what is written down: it keeps its promise, and does not without its safeguard.
int play() {
    LuaStore store{store_script()};
    int wrong = 0;
    for (const Scenario& scenario : scenarios::all) {
        const Outcome whole = outcome_of(scenario, store, false);
        const std::string kept = broken_by(scenario, whole);
        const std::string broken = broken_without_safeguard(scenario, whole);
        std::cout << scenario.name << ": " << (kept.empty() ? "kept" : kept) << "; "
                  << scenario.mutant << ": " << (broken.empty() ? "KEPT AS WELL" : broken) << "\n";
        wrong += kept.empty() && !broken.empty() ? 0 : 1;
    }
    return wrong == 0 ? 0 : 1;
}

// The first schedule that a mutant breaks; 0: none.
std::uint64_t caught(const Mutant& mutant, std::uint64_t count) {
    LuaStore store{mutated(mutant)};
    for (std::uint64_t seed = 1; seed <= count; ++seed)
        for (const char* const name : {"sliding", "clock", "lock"}) {
            const ScheduleTerms terms = random_terms(seed, mode_named(name));
            if (!broken_promise(terms, Simulation{terms, store}.run()).empty())
                return seed;
        }
    return 0;
}

// The first schedule that is broken if gateways renew leases that the store does not count.
std::uint64_t caught_uncovered(std::uint64_t count) {
    LuaStore store{std::string{store_script()}};
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        const ScheduleTerms terms = random_terms(seed, mode_named("lock"));
        Simulation simulation{terms, store};
        simulation.renew_uncovered_leases();
        if (!broken_promise(terms, simulation.run()).empty())
            return seed;
    }
    return 0;
}

// only: of one mutant; empty: of all that play() does not show.
int try_mutants(std::uint64_t count, std::string_view only) {
    int missed = 0;
    const auto tried = [&](std::string_view name) { return only.empty() || name == only; };
    const auto tell = [&](std::string_view name, std::uint64_t seed) {
        std::cout << name << ": "
                  << (seed > 0 ? "above the number in schedule " + std::to_string(seed)
                               : "NOT FOUND")
                  << std::endl;
        missed += seed > 0 ? 0 : 1;
    };
    for (const Mutant& mutant : mutants)
        if (tried(mutant.name) &&
            std::ranges::find(scenarios::all, mutant.name, &Scenario::mutant) ==
                std::end(scenarios::all))
            tell(mutant.name, caught(mutant, count));
    if (const std::string_view name = "leases are renewed that the store does not count";
        tried(name))
        tell(name, caught_uncovered(4 * count));
    return missed == 0 ? 0 : 1;
}

enum class Demand : std::uint8_t { steady, random, rotating };

// All of the demand is one or two gateways', others' every 2 s.
void rotate(Simulation& of, Duration length) {
    constexpr Duration pause = 2s;
    constexpr int turns[][2] = {{0, 0}, {1, 2}, {3, 3}, {0, 1}, {2, 2}, {3, 1}};
    of.at(0, [&of] {
        for (const int gateway : {0, 1, 2, 3})
            of.start(gateway);
    });
    for (int turn = 0; turn * pause < length; ++turn)
        for (const int gateway : turns[turn % 6])
            of.busy(gateway, (turn * pause).count(), ((turn + 1) * pause).count());
}

// Prints how much four gateways admit of what one would. Returns it, in percent.
double calm(const Mode& mode, LuaStore& store, Demand demand, Duration per, std::uint64_t number) {
    ScheduleTerms terms;
    terms.algorithm = mode.algorithm;
    terms.anchor = mode.anchor;
    terms.number = terms.other_number = number;
    terms.per = per;
    terms.gateways = 4;
    terms.demand = demand == Demand::steady ? 2 : demand == Demand::random ? 8 : 9.2;
    terms.phase = demand == Demand::random ? 2s : 0s;
    terms.starts = demand != Demand::rotating;
    terms.faults = false;
    terms.begin = 2 * per + 3s;
    terms.length = terms.begin + std::max<Duration>(20 * per, 60s);
    Simulation simulation{terms, store};
    if (demand == Demand::rotating)
        rotate(simulation, terms.length);
    const Outcome outcome = simulation.run();
    const auto counted = std::ranges::count_if(
        outcome.admitted, [&](const Admission& each) { return each.at >= terms.begin.count(); });
    const double part =
        100 * static_cast<double>(counted) / static_cast<double>(outcome.one_gateway);
    const double calls =
        1000 * static_cast<double>(outcome.store_calls) / static_cast<double>(outcome.asked);
    constexpr const char* names[] = {"steady", "random", "rotating"};
    std::cout << mode.name << ", " << names[static_cast<int>(demand)] << ", N " << number
              << ", per " << per / 1ms << " ms: " << part << " % of what one gateway admits, "
              << calls << " calls for 1,000 requests" << std::endl;
    return part;
}

// New keys with three requests a second, each at any of four gateways, and 100 per 10 s. False
// where more than one in twenty is refused, or where they cost more than three calls each.
bool few_are_cheap(const Mode& mode, LuaStore& store) {
    ScheduleTerms terms;
    terms.algorithm = mode.algorithm;
    terms.anchor = mode.anchor;
    terms.number = terms.other_number = 100;
    terms.per = 10s;
    terms.gateways = 4;
    terms.keys = 20;
    terms.demand = 0.3 * terms.keys;
    terms.phase = 0s;
    terms.faults = false;
    terms.begin = 13s; // by then a new store gives shares
    terms.length = 27s;
    Simulation simulation{terms, store};
    for (int gateway = 0; gateway < terms.gateways; ++gateway)
        simulation.busy(gateway, terms.begin.count(), terms.length.count());
    const Outcome outcome = simulation.run();
    std::cout << mode.name << ", few, N 100, per 10000 ms: " << outcome.admitted.size() << " of "
              << outcome.asked << " admitted, " << outcome.share_calls << " calls" << std::endl;
    return 20 * outcome.admitted.size() >= 19 * outcome.asked &&
           outcome.share_calls <= 3 * outcome.asked;
}

// Four gateways without faults: with few requests, with steady demand, and with demand that moves
// between them. Fails where a number of at least 100 is used by less than 97 %, or by less than 90
// % while it moves.
int calm(const Mode& mode) {
    LuaStore store{store_script()};
    bool good = few_are_cheap(mode, store);
    for (const Demand demand : {Demand::steady, Demand::random, Demand::rotating})
        for (const Duration per : {200ms, 1000ms, 10'000ms})
            for (const std::uint64_t number : {5, 100, 1000}) {
                const double part = calm(mode, store, demand, per, number);
                good = good && (number < 100 || part >= (demand == Demand::steady ? 97 : 90));
            }
    return good ? 0 : 1;
}

// A number, and what a request costs at each gateway.
struct FairRow {
    std::uint64_t number;
    std::vector<std::uint64_t> costs;
};

std::string name_of(const FairRow& row) {
    std::string name = "N ";
    name.append(std::to_string(row.number)).append(", costs");
    for (const std::uint64_t each : row.costs)
        name.append(" ").append(std::to_string(each));
    return name;
}

// Gateways of which all have clients, and a number that is small for them, or costs that are large.
// False where one gets less than half of an equal part, or all together less than 75 % of what one
// gateway admits.
bool is_fair(const Mode& mode, LuaStore& store, const FairRow& row, bool say) {
    ScheduleTerms terms;
    terms.algorithm = mode.algorithm;
    terms.anchor = mode.anchor;
    terms.number = terms.other_number = row.number;
    terms.costs = row.costs;
    terms.per = 1s;
    terms.gateways = static_cast<int>(row.costs.size());
    terms.demand = std::max(20.0 / static_cast<double>(row.number), 4.0);
    terms.phase = 0s;
    terms.faults = false;
    terms.begin = 5s;
    terms.length = 125s;
    const Outcome outcome = Simulation{terms, store}.run();
    std::vector<std::uint64_t> units(row.costs.size());
    for (const Admission& each : outcome.admitted)
        if (each.at >= terms.begin.count())
            units.at(static_cast<std::size_t>(each.gateway)) += terms.cost_at(each.gateway);
    const std::uint64_t sum = std::accumulate(units.begin(), units.end(), std::uint64_t{0});
    if (say) {
        std::cout << mode.name << ", " << name_of(row) << ":";
        for (const std::uint64_t each : units)
            std::cout << " " << each;
        std::cout << ", one gateway " << outcome.one_gateway << "; " << outcome.store_calls
                  << " calls for " << outcome.asked << " requests" << std::endl;
    }
    return *std::ranges::min_element(units) >= sum / (2 * units.size()) &&
           sum >= outcome.one_gateway * 3 / 4;
}

int fair(const Mode& mode) {
    const auto alike = [](std::uint64_t number, std::uint64_t cost) {
        return FairRow{number, std::vector<std::uint64_t>(5, cost)};
    };
    const std::vector<FairRow> rows = {alike(1, 1),         alike(2, 1),          alike(4, 1),
                                       alike(7, 1),         alike(100, 19),       alike(100, 21),
                                       alike(100, 30),      alike(100, 70),       alike(100, 100),
                                       {10, {1, 6}},        {10, {1, 10}},        {100, {1, 1, 60}},
                                       {100, {10, 10, 60}}, {100, {5, 60, 60, 5}}};
    LuaStore store{store_script()};
    bool good = true;
    for (const FairRow& row : rows)
        good = is_fair(mode, store, row, true) && good;
    for (const Mutant& mutant : fairness_mutants) {
        LuaStore unfair{mutated(mutant)};
        const auto found = std::ranges::find_if(
            rows, [&](const FairRow& row) { return !is_fair(mode, unfair, row, false); });
        std::cout << mutant.name << ": " << (found != rows.end() ? name_of(*found) : "NOT FOUND")
                  << std::endl;
        good = good && found != rows.end();
    }
    return good ? 0 : 1;
}

// After faults, one gateway gets all the clients: it is admitted what the limit says.
int recovers(const Mode& mode, std::uint64_t count, std::uint64_t first) {
    // A lock's holder may keep it to the end.
    const Instant settled = mode.lock ? 16'000'000'000 : 33'000'000'000;
    LuaStore store{store_script()};
    std::uint64_t low = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        ScheduleTerms terms = random_terms(seed, mode);
        terms.other_number = terms.number;
        terms.other_burst = 0;
        terms.costs.clear();
        terms.demand = 4.0 * terms.gateways;
        terms.faults_for = 8s;
        terms.length = 45s;
        const Outcome outcome = Simulation{terms, store}.run();
        const auto admitted = std::ranges::count_if(outcome.admitted, [&](const Admission& each) {
            return each.at >= settled && each.gateway == outcome.remaining;
        });
        const double wanted = static_cast<double>(terms.number) *
                              static_cast<double>(terms.length.count() - settled) /
                              static_cast<double>(terms.per.count());
        const double least = terms.lock ? 1 : 0.8 * wanted;
        if (static_cast<double>(admitted) >= least)
            continue;
        if (++low <= 5)
            std::cout << mode.name << " schedule " << seed << ": gateway " << outcome.remaining
                      << " is admitted " << admitted << " of " << wanted << "\n";
    }
    std::cout << mode.name << ": " << count << " schedules, after " << low
              << " of them less than there is\n";
    return low == 0 ? 0 : 1;
}

int tell(const Mode& mode, std::uint64_t schedule) {
    LuaStore store{store_script()};
    const ScheduleTerms terms = random_terms(schedule, mode);
    const Outcome outcome = Simulation{terms, store, true}.run();
    std::cout << outcome.history << broken_promise(terms, outcome) << "\n";
    return 0;
}

int run(const std::vector<std::string>& words) {
    const auto word = [&](std::size_t at) {
        return at < words.size() ? words[at]
                                 : throw std::invalid_argument{"an argument is missing"};
    };
    const std::string& what = word(0);
    if (what == "schedules")
        return schedules(
            mode_named(word(1)), std::stoull(word(2)), words.size() > 3 ? std::stoull(word(3)) : 1);
    if (what == "fair")
        return fair(mode_named(word(1)));
    if (what == "recovers")
        return recovers(
            mode_named(word(1)), std::stoull(word(2)), words.size() > 3 ? std::stoull(word(3)) : 1);
    if (what == "split")
        return split(
            mode_named(word(1)), std::stoull(word(2)), words.size() > 3 ? std::stoull(word(3)) : 1);
    if (what == "migrations")
        return migrations(
            mode_named(word(1)), std::stoull(word(2)), words.size() > 3 ? std::stoull(word(3)) : 1);
    if (what == "mutants")
        return try_mutants(std::stoull(word(1)), words.size() > 2 ? words[2] : "");
    if (what == "play" && words.size() == 1)
        return play();
    if (what == "play") {
        const Scenario& scenario = std::span{scenarios::all}[std::stoull(word(1))];
        const bool mutant = words.size() > 2;
        LuaStore store{mutant ? script_without(scenario.mutant) : store_script()};
        const Outcome outcome = outcome_of(scenario, store, mutant, true);
        std::cout << outcome.history << broken_by(scenario, outcome) << "\n";
        return 0;
    }
    if (what == "calm")
        return calm(mode_named(word(1)));
    if (what == "tell")
        return tell(mode_named(word(1)), std::stoull(word(2)));
    throw std::invalid_argument{"unknown command " + what};
}

} // namespace

int main(int count, char** words) try {
    return run({words + 1, words + count});
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
}
