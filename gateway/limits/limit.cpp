#include "limits/limit.hpp"

#include "limits/counter/counters.hpp"
#include "limits/forecast/collect_past.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/reservation/reservations.hpp"

#include <algorithm>
#include <atomic>

namespace stint::limits {

namespace {

std::uint64_t next_ordinal() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

Limit::Limit(const LimitSpec& spec)
    : identity_{spec.identity}, ordinal_{next_ordinal()},
      counters_{std::make_unique<Counters>(spec)}, reservations_{std::make_unique<Reservations>()} {
}

Limit::~Limit() = default;

void Limit::set_max_keys(std::uint64_t max_keys) noexcept {
    counters_->set_max_keys(max_keys);
}

bool Limit::set_share(Hash128 key, const Share& share, const Now& now) noexcept {
    if (!counters_->set_share(key, share, now))
        return false;
    notify_waiters(key);
    return true;
}

SharePolicy& Limit::share_policy() noexcept {
    return counters_->share_policy();
}

KeyShare Limit::share(Hash128 key, const Now& now) const noexcept {
    return counters_->share(key, now);
}

Numbers numbers_of(const Charge& charge, const Now& now) noexcept {
    const std::optional<Numbers> part = charge.limit->share(charge.key, now).numbers;
    if (!part || charge.ignore_share) [[likely]]
        return {charge.quota, charge.burst};
    const auto burst = [](const Numbers& of) { return of.burst > 0 ? of.burst : of.quota; };
    return {
        std::min(charge.quota, part->quota),
        std::min(burst({charge.quota, charge.burst}), burst(*part))};
}

std::uint64_t Limit::use(const Charge& charge, const Now& now) const {
    return counters_->use(charge, now);
}

CounterState Limit::state_of(const Charge& charge, const Now& now) const {
    return counters_->state_of(charge, now);
}

SteadyTime Limit::window_end(const Charge& charge, const Now& now) const {
    return counters_->window_end(charge, now);
}

std::uint64_t Limit::live_keys(const Now& now) const {
    return counters_->live_keys(now);
}

std::uint64_t Limit::in_flight(HeldSlots* by_key) const {
    return counters_->in_flight(by_key);
}

std::uint64_t Limit::refused() const noexcept {
    return counters_->tally().refused();
}

const Tally& Limit::tally() const noexcept {
    return counters_->tally();
}

DryRunTally& Limit::dry_run() const noexcept {
    return counters_->tally().dry_run();
}

std::size_t Limit::shards() const noexcept {
    return counters_->is_cap() ? 0 : counters_->shards().count();
}

std::uint64_t Limit::take_changed(std::size_t shard) noexcept {
    return counters_->take_changed(shard);
}

void Limit::mark_changed(std::size_t shard, std::uint64_t pages) noexcept {
    counters_->mark_changed(shard, pages);
}

void Limit::save(
    std::size_t shard, std::uint64_t pages, const Now& now, std::vector<SavedPage>& to) const {
    counters_->save(shard, pages, now, to);
}

bool Limit::restore(std::span<const RestoredPage> pages, const Now& now) {
    return counters_->restore(pages, now);
}

Past past_of(const Limit& limit, const Numbers& numbers, const Now& now) {
    return collect_past(limit.counters_->shards(), numbers, limit.identity_.per, now);
}

bool Limit::forget(std::optional<Hash128> key, const Now& now) noexcept {
    return counters_->forget(key, now);
}

void Limit::close(const Now& from) noexcept {
    counters_->close(from);
}

void Limit::raise_fence(std::uint64_t number) noexcept {
    std::uint64_t known = fence_.load(std::memory_order_relaxed);
    while (known < number &&
           !fence_.compare_exchange_weak(
               known, number, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void Limit::wake_waiters(Hash128 key) noexcept {
    room_.load(std::memory_order_relaxed)->freed(*this, key);
}

} // namespace stint::limits
