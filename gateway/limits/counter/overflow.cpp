#include "limits/counter/overflow.hpp"

#include <algorithm>
#include <new>

namespace stint::limits {

namespace {

bool by_windows(Algorithm algorithm) noexcept {
    return algorithm == Algorithm::fixed_window || algorithm == Algorithm::sliding_window;
}

std::uint64_t rest(std::uint64_t quota, std::uint64_t used) noexcept {
    return quota > used ? quota - used : 0;
}

} // namespace

std::unique_ptr<Overflow>
Overflow::make(Algorithm algorithm, Duration per, std::size_t width) noexcept {
    std::unique_ptr<Overflow> made{new (std::nothrow) Overflow{algorithm, per, width}};
    const auto good = [](const auto& sketch) { return sketch.good(); };
    return made != nullptr && std::visit(good, made->sketch_) ? std::move(made) : nullptr;
}

Overflow::Overflow(Algorithm algorithm, Duration per, std::size_t width) noexcept
    : algorithm_{algorithm}, rules_{ops_of(algorithm)}, sketch_{SketchCells{0}} {
    if (by_windows(algorithm))
        sketch_.emplace<WindowSketch>(width, per);
    else
        sketch_.emplace<SketchCells>(width);
}

void Overflow::advance(SteadyTime now, const ChargeTerms& terms) noexcept {
    if (auto* const windows = std::get_if<WindowSketch>(&sketch_))
        windows->advance(now, terms.clock != nullptr ? terms.clock->serial : 1);
}

// Returns the cell that an exact counter of the key would have, or one with a higher count.
CounterCell Overflow::slot_of(Hash128 key) const noexcept {
    const std::uint64_t least = std::get<SketchCells>(sketch_).least(key);
    return algorithm_ == Algorithm::concurrency ? CounterCell{1, least}
                                                : CounterCell{static_cast<std::int64_t>(least), 0};
}

bool Overflow::holds(Hash128 key, SteadyTime now) const noexcept {
    if (const auto* const windows = std::get_if<WindowSketch>(&sketch_))
        return windows->count(key) > 0;
    const CounterCell slot = slot_of(key);
    return algorithm_ == Algorithm::concurrency ? slot.used > 0
                                                : slot.stamp > now.time_since_epoch().count();
}

Verdict Overflow::check(Hash128 key, const ChargeTerms& terms, SteadyTime now) const noexcept {
    const auto* const windows = std::get_if<WindowSketch>(&sketch_);
    if (windows == nullptr)
        return rules_.check(slot_of(key), terms, now);
    if (terms.cost > terms.quota)
        return {Refusal::cost, Duration::max()};
    if (windows->count(key) + terms.reserved_for_others + terms.cost <= terms.quota)
        return {};
    const std::uint64_t most = rest(terms.quota - terms.cost, terms.reserved_for_others);
    const SteadyTime until = std::max(windows->until(key, most), now);
    const bool ends_before = terms.clock != nullptr && terms.clock->end < until;
    return {Refusal::window, (ends_before ? terms.clock->end : until) - now};
}

Receipt Overflow::charge(Hash128 key, const ChargeTerms& terms, SteadyTime now) noexcept {
    Receipt receipt{
        .mark = 0, .cost = terms.cost, .quota = terms.quota, .returned = 0, .overflow = true};
    if (auto* const windows = std::get_if<WindowSketch>(&sketch_)) {
        receipt.mark = windows->add(key, terms.cost);
        receipt.returned = windows->serial();
    } else if (algorithm_ == Algorithm::concurrency) {
        std::get<SketchCells>(sketch_).add(key, terms.cost);
        in_flight_ += terms.cost;
    } else {
        CounterCell slot = slot_of(key);
        (void)rules_.charge(slot, terms, now);
        std::get<SketchCells>(sketch_).raise(key, static_cast<std::uint64_t>(slot.stamp));
    }
    return receipt;
}

void Overflow::give_back(Hash128 key, const Receipt& receipt, std::uint64_t cost) noexcept {
    if (auto* const windows = std::get_if<WindowSketch>(&sketch_)) {
        windows->take_back(key, receipt.mark, receipt.returned, cost);
    } else if (algorithm_ == Algorithm::concurrency) {
        std::get<SketchCells>(sketch_).take_back(key, cost);
        in_flight_ -= cost;
    } // a bucket's cell is the latest TAT of several keys: nothing can be taken back
}

CounterState Overflow::state(Hash128 key, const ChargeTerms& terms, SteadyTime now) const noexcept {
    const auto* const windows = std::get_if<WindowSketch>(&sketch_);
    if (windows == nullptr)
        return rules_.state(slot_of(key), terms, now);
    const std::uint64_t used = windows->count(key);
    const std::uint64_t left = rest(terms.quota, used + terms.reserved_for_others);
    if (used == 0)
        return {0, left, Duration{}};
    return {used, left, windows->until(key, used - 1) - now};
}

} // namespace stint::limits
