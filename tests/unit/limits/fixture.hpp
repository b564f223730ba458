// What the tests of limits/ share: instants, specs and keys in few words.
#pragma once

#include "limits/limit.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace stint::limits::test {

using namespace std::chrono_literals;

// Both clocks start far from their epochs and from any round multiple of the lengths in use.
inline const Now start{SteadyTime{1'000'000s}, WallTime{1'700'000'000s}};

inline Now at(Duration since_start) {
    return {start.steady + since_start, start.wall + since_start};
}

// As at(), but the wall clock has been set `by` forward (or back).
inline Now at(Duration since_start, Duration by) {
    return {start.steady + since_start, start.wall + since_start + by};
}

inline LimitSpec window(Duration per, Anchor anchor = Anchor::first_request) {
    return {.identity = {.name = "w", .key = "", .anchor = anchor, .per = per}, .quota = 1};
}

inline LimitSpec
keyed_window(Duration per, std::uint64_t max_keys, Anchor anchor = Anchor::first_request) {
    LimitSpec spec = window(per, anchor);
    spec.identity.key = "client_ip";
    spec.max_keys = max_keys;
    return spec;
}

inline LimitSpec cap() {
    return {.identity = {.name = "c", .key = "", .algorithm = Algorithm::concurrency}, .quota = 1};
}

inline LimitSpec keyed_cap(std::uint64_t max_keys) {
    LimitSpec spec = cap();
    spec.identity.key = "client_ip";
    spec.max_keys = max_keys;
    return spec;
}

// Spread like a keyed hash (the finaliser of splitmix64).
inline Hash128 key(std::uint64_t number) {
    const auto mix = [](std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    };
    return {mix(number * 2 + 1), mix(number * 2 + 2)};
}

inline Decision admit_one(Limit& limit, std::uint64_t quota, const Now& now, Hash128 of = {}) {
    const Charge charge{&limit, of, quota};
    return admit({&charge, 1}, now);
}

// What a charge of one would find.
inline CounterState
state(const Limit& limit, const Now& now, Hash128 of = {}, std::uint64_t quota = 100) {
    return limit.state_of({nullptr, of, quota}, now);
}

inline Decision admit_all(std::initializer_list<Charge> charges, const Now& now) {
    return admit({charges.begin(), charges.size()}, now);
}

// "a7". (With operator+ GCC 12 warns of an overlap that is not there.)
inline std::string named(std::string_view letter, std::size_t number) {
    return std::string{letter}.append(std::to_string(number));
}

} // namespace stint::limits::test
