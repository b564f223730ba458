#include "upstream/balance.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace stint::upstream {
namespace {

constexpr std::uint64_t whole = 1000;
constexpr std::uint64_t least_share = whole / 10;

// Returns `value` mixed: every bit of the result depends on every bit of `value` (Stafford's
// thirteenth mix).
constexpr std::uint64_t mixed(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

// Returns an endpoint's score for the key. The endpoint with the highest score gets the key. The
// chance of the highest score is in proportion to the weight; a score does not depend on other
// endpoints.
double draw(const Candidate& candidate, std::uint64_t key) noexcept {
    const std::uint64_t bits = mixed(key ^ mixed(candidate.seed)) >> 11U;
    const double uniform = (static_cast<double>(bits) + 0.5) * 0x1p-53;
    return -static_cast<double>(candidate.weight) / std::log(uniform);
}

std::size_t by_hash(std::span<const Candidate> candidates, std::uint64_t key) noexcept {
    std::size_t best = no_endpoint;
    double most = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].weight == 0)
            continue;
        const double drawn = draw(candidates[i], key);
        if (best == no_endpoint || drawn > most) {
            best = i;
            most = drawn;
        }
    }
    return best;
}

} // namespace

std::uint64_t stable_hash(std::string_view text) noexcept {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return mixed(hash);
}

std::uint64_t slow_share(SteadyTime back, Duration slow_start, SteadyTime now) noexcept {
    if (back == SteadyTime{} || now - back >= slow_start)
        return whole;
    const double part = static_cast<double>(std::max(now - back, Duration::zero()).count()) /
                        static_cast<double>(slow_start.count());
    return least_share + static_cast<std::uint64_t>(part * (whole - least_share));
}

std::size_t Balancer::choose(std::span<const Candidate> candidates, std::uint64_t key) noexcept {
    switch (how_) {
    case routing::Balance::round_robin:
        return in_turn(candidates);
    case routing::Balance::least_requests:
        return least(candidates);
    case routing::Balance::hash:
        break;
    }
    return by_hash(candidates, key);
}

// Smooth weighted round robin: each request credits every endpoint with its weight. The endpoint
// with the most credit is chosen, and pays the sum of all weights.
std::size_t Balancer::in_turn(std::span<const Candidate> candidates) noexcept {
    std::size_t best = no_endpoint;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto weight = static_cast<std::int64_t>(candidates[i].weight);
        if (weight == 0) {
            turns_[i] = 0; // the endpoint comes back without debt or credit
            continue;
        }
        turns_[i] += weight;
        total += weight;
        if (best == no_endpoint || turns_[i] > turns_[best])
            best = i;
    }
    if (best != no_endpoint)
        turns_[best] -= total;
    return best;
}

std::size_t Balancer::least(std::span<const Candidate> candidates) noexcept {
    const auto load = [](const Candidate& each) { return std::uint64_t{each.in_flight} + 1; };
    std::size_t best = no_endpoint;
    for (std::size_t n = 0, i = next_; n < candidates.size(); ++n) {
        const Candidate& each = candidates[i];
        // compares load / weight without a division
        if (each.weight > 0 && (best == no_endpoint || load(each) * candidates[best].weight <
                                                           load(candidates[best]) * each.weight))
            best = i;
        i = i + 1 == candidates.size() ? 0 : i + 1;
    }
    if (best != no_endpoint)
        next_ = best + 1 == candidates.size() ? 0 : best + 1;
    return best;
}

} // namespace stint::upstream
