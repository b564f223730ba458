#include "limits/forecast/past_windows.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>

namespace stint::limits {

namespace {

using namespace std::chrono_literals;

constexpr Duration covered = 32s;
constexpr std::int64_t fewest_spans = 8;
constexpr std::int64_t most_spans = 32;
constexpr std::size_t listed_alone = 256; // windows of a limit with a single stripe
constexpr std::size_t listed_in_stripe = 64;

std::size_t spans_for(Duration per) noexcept {
    if (per <= Duration::zero())
        return 0;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(covered / per, fewest_spans, most_spans));
}

} // namespace

PastWindows::PastWindows(Duration per, std::size_t shards) noexcept
    : per_{per}, stripe_count_{std::min(shards, most_stripes)}, span_count_{spans_for(per)} {}

PastWindows::~PastWindows() {
    delete[] stripes_.load(std::memory_order_relaxed);
}

PastWindows::Stripe* PastWindows::made(std::size_t shard) const noexcept {
    Stripe* const stripes = stripes_.load(std::memory_order_acquire);
    return stripes != nullptr ? &stripes[shard % stripe_count_] : nullptr;
}

// Another thread may make the stripes at the same time: the first ones stay.
PastWindows::Stripe* PastWindows::obtain(std::size_t shard) noexcept {
    if (Stripe* const known = made(shard)) [[likely]]
        return known;
    std::unique_ptr<Stripe[]> fresh{new (std::nothrow) Stripe[stripe_count_]};
    Stripe* known = nullptr;
    if (fresh != nullptr &&
        stripes_.compare_exchange_strong(
            known, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
        (void)fresh.release();
    return made(shard);
}

void PastWindows::add(
    std::size_t shard, Hash128 key, std::uint64_t counted, SteadyTime end) noexcept try {
    if (counted <= negligible || span_count_ == 0)
        return;
    Stripe* const stripe = obtain(shard);
    if (stripe == nullptr)
        return;
    const std::lock_guard lock{stripe->mutex};
    if (stripe->spans.empty())
        stripe->spans.resize(
            span_count_,
            Span{-1, WindowList{stripe_count_ == 1 ? listed_alone : listed_in_stripe}});
    const std::int64_t number = number_of(end);
    Span& span = stripe->spans[static_cast<std::size_t>(number) % span_count_];
    if (span.number > number)
        return; // over for so long that another span has taken its place
    if (span.number < number) {
        span.windows.clear();
        span.number = number;
    }
    span.windows.add(WindowCount{key, counted});
} catch (const std::bad_alloc&) {
    return;
}

bool PastWindows::covers(SteadyTime end, SteadyTime now) const noexcept {
    return span_count_ > 0 && end <= now &&
           number_of(end) > number_of(now) - static_cast<std::int64_t>(span_count_);
}

void PastWindows::append_to(Past& past, SteadyTime now) const {
    if (span_count_ == 0)
        return;
    const std::int64_t first = number_of(now) - static_cast<std::int64_t>(span_count_) + 1;
    past.since = SteadyTime{per_ * first};
    for (std::size_t i = 0; i < stripe_count_; ++i) {
        const Stripe* const stripe = made(i);
        if (stripe == nullptr)
            return;
        const std::lock_guard lock{stripe->mutex};
        for (const Span& span : stripe->spans)
            if (span.number >= first)
                past.windows.add(span.windows);
    }
}

} // namespace stint::limits
