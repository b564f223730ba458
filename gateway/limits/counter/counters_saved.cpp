// Saving and restoring counters, and closing a limit whose counts were lost.
//
// Format of a page: the number of shards; under Anchor::clock the shard's window; then the page's
// live counters to the end, each with its key if the limit has one.
#include "base/bytes.hpp"
#include "limits/algorithm/fraction.hpp"
#include "limits/counter/counters.hpp"
#include "limits/counter/saved.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <map>

namespace stint::limits {

namespace {

std::int64_t nanoseconds(SteadyTime instant) noexcept {
    return instant.time_since_epoch().count();
}

void put_window(std::string& to, const ClockWindow& window) {
    put(to, nanoseconds(window.end));
    put(to, window.ordinal);
    put(to, window.serial);
    put(to, window.length.count());
}

ClockWindow take_window(ByteReader& from, Duration shift) {
    ClockWindow window;
    window.end = SteadyTime{Duration{from.take<std::int64_t>()}} + shift;
    window.ordinal = from.take<std::int64_t>();
    window.serial = from.take<std::int64_t>();
    window.length = Duration{from.take<std::int64_t>()};
    return window;
}

} // namespace

std::size_t shards_of(std::string_view bytes) noexcept {
    return ByteReader{bytes}.take<std::uint32_t>();
}

// A page that is being read.
struct Counters::Source {
    std::size_t shard; // number among the saved shards
    std::size_t shards;
    Duration shift;
    ClockWindow window; // Anchor::clock
    ByteReader counters;
};

std::uint64_t Counters::take_changed(std::size_t shard) noexcept {
    Shard* const made = shards_.made(shard);
    if (made == nullptr || made->changed.load(std::memory_order_relaxed) == 0)
        return 0;
    const std::lock_guard lock{made->mutex};
    const std::uint64_t pages = made->changed.load(std::memory_order_relaxed);
    made->changed.store(0, std::memory_order_relaxed);
    return pages;
}

void Counters::mark_changed(std::size_t shard, std::uint64_t pages) noexcept {
    Shard* const made = shards_.made(shard);
    if (made == nullptr)
        return; // nothing was ever counted in it
    const std::lock_guard lock{made->mutex};
    const std::uint64_t known = made->changed.load(std::memory_order_relaxed);
    made->changed.store(known | (keyed_ ? pages : pages & 1), std::memory_order_relaxed);
}

void Counters::save(
    std::size_t of, std::uint64_t pages, const Now& now, std::vector<SavedPage>& to) const {
    Shard* const saved = shards_.made(of);
    if (saved == nullptr || pages == 0)
        return;
    Shard& shard = *saved;
    std::array<SavedPage, pages_per_shard> made;
    const auto add = [&](SavedPage& page, const CounterCell& slot, const Hash128* key) {
        if (key != nullptr) {
            put(page.bytes, key->high);
            put(page.bytes, key->low);
        }
        if (clocked_)
            put(page.bytes, slot.used);
        else
            rules_.save(slot, page.bytes);
        page.until =
            std::max(page.until, clocked_ ? shard.clock.end : SteadyTime{Duration{slot.stamp}});
    };
    std::string head;
    put(head, static_cast<std::uint32_t>(shards_.count()));
    {
        const std::lock_guard lock{shard.mutex};
        const LiveStamps live = live_in(shard, now);
        if (clocked_)
            put_window(head, shard.clock);
        if (!keyed_ && shard.single.stamp != 0 && live.contain(shard.single))
            add(made[0], shard.single, nullptr);
        for (const Counter& counter : shard.table) {
            const std::size_t page = page_of(counter.key) % pages_per_shard;
            if ((pages >> page & 1) != 0 && !counter.vacant() && live.contain(counter.slot))
                add(made[page], counter.slot, &counter.key);
        }
    }
    for (; pages != 0; pages &= pages - 1) {
        const auto page = static_cast<std::size_t>(std::countr_zero(pages));
        made[page].page = static_cast<std::uint32_t>(of * pages_per_shard + page);
        if (!made[page].bytes.empty())
            made[page].bytes.insert(0, head);
        to.push_back(std::move(made[page]));
    }
}

Counters::Source Counters::source_of(const RestoredPage& page) const {
    Source source{page.page / pages_per_shard, 0, page.shift, {}, ByteReader{page.bytes}};
    source.shards = source.counters.take<std::uint32_t>();
    if (clocked_)
        source.window = take_window(source.counters, page.shift);
    return source;
}

bool Counters::restore(std::span<const RestoredPage> pages, const Now& now) {
    std::vector<Source> sources;
    for (const RestoredPage& page : pages)
        sources.push_back(source_of(page));
    if (clocked_)
        choose_windows(sources, now);
    bool good = true;
    for (Source& source : sources)
        good = restore(source, now) && good;
    return good;
}

// Drops pages of a window that is over, or that is not the last one of its shard, and restores the
// shards' windows. If the number of shards has changed, all shards get the window that ends last:
// windows of shards differ only around a step of the wall clock.
void Counters::choose_windows(std::vector<Source>& sources, const Now& now) {
    std::map<std::size_t, std::int64_t> last;
    for (const Source& source : sources)
        last[source.shard] = std::max(last[source.shard], source.window.serial);
    std::erase_if(sources, [&](const Source& source) {
        return source.window.serial != last[source.shard] || !source.window.open_at(now, ruler_);
    });
    for (const Source& source : sources)
        for (std::size_t i = 0; i < shards_.count(); ++i) {
            if (source.shards == shards_.count() && source.shard != i)
                continue;
            ClockWindow& clock = shards_.at(i).clock;
            if (source.window.end > clock.end)
                clock = source.window;
        }
}

bool Counters::restore(Source& source, const Now& now) {
    ByteReader& from = source.counters;
    while (from.good() && !from.rest().empty()) {
        Hash128 key;
        if (keyed_) {
            key.high = from.take<std::uint64_t>();
            key.low = from.take<std::uint64_t>();
        }
        CounterCell slot = clocked_
                               ? CounterCell{shard_of(key).clock.serial, from.take<std::uint64_t>()}
                               : rules_.load(from, source.shift, per_, now.steady);
        if (!from.good() || slot.stamp == 0 || !put_back(key, slot, now)) {
            if (rules_.discard != nullptr)
                rules_.discard(slot);
            return false;
        }
    }
    return from.good();
}

// Puts a restored counter into the table, even beyond max_keys, as after a reload with a smaller
// max_keys. False: the key is there already, or there is no memory.
bool Counters::put_back(Hash128 key, CounterCell& slot, const Now& now) {
    Shard& shard = shard_of(key);
    const bool live = slot.stamp != 0 && live_stamps(shard, now).contain(slot);
    if (!live && rules_.discard != nullptr)
        rules_.discard(slot);
    if (!live)
        return true; // the counter's window is over
    if (!keyed_) {
        std::swap(shard.single, slot);
        if (rules_.discard != nullptr)
            rules_.discard(slot);
    } else {
        if (shard.table.probe(key, {}).match != nullptr || !make_space(shard, now))
            return false;
        shard.table.claim(*shard.table.probe(key, {}).vacant, key, slot);
        occupied_.fetch_add(1, std::memory_order_relaxed);
        shard.expect_spent(spent_at(shard, slot));
    }
    note_change(shard, key);
    return true;
}

void Counters::close(const Now& from) noexcept {
    if (cap_)
        return;
    CalendarSpan unknown;
    closed_from_ = from.steady;
    closed_until_ = from.steady + (clocked_ ? ruler_.place_of(from.wall, unknown).to_end
                                   : algorithm_ == Algorithm::token_bucket ? Duration{longest}
                                                                           : per_);
}

// Returns when a closed limit opens. The former state of a token bucket is not known: the limit
// stays closed until an empty bucket would be full again.
SteadyTime Counters::closed_until(const ChargeTerms& terms) const noexcept {
    if (algorithm_ != Algorithm::token_bucket)
        return closed_until_;
    const Duration refilled{
        terms.quota > 0 ? divide_up(per_.count(), terms.burst, terms.quota) : per_.count()};
    return closed_from_ + std::max(refilled, per_);
}

void Counters::close(Verdict& verdict, const ChargeTerms& terms, SteadyTime now) const noexcept {
    const Duration left = closed_until(terms) - now;
    if (verdict.wait < left && verdict.refusal != Refusal::cost)
        verdict = {Refusal::window, left};
}

void Counters::close(CounterState& state, const ChargeTerms& terms, SteadyTime now) const noexcept {
    const Duration left = closed_until(terms) - now;
    if (left <= Duration::zero())
        return;
    state.remaining = 0;
    state.resets_in = std::max(state.resets_in, left);
}

} // namespace stint::limits
