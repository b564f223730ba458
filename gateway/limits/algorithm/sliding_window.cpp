// A strict sliding window: never more than the quota in any span of the window's length.
// CounterCell: stamp = when the newest admission leaves the window (steady, ns); used = the address
// of a Ring, made when the cell is first needed, or 0.
//
// The ring holds the instants and costs of admissions. With a quota of up to 128, each instant has
// an entry of its own. With a higher quota, all admissions within the same 1/128 of the window
// share an entry, and count as if they had come at the last of their instants: later than true,
// never earlier.
#include "limits/algorithm/algorithm_ops.hpp"
#include "limits/algorithm/fraction.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stint::limits {

namespace {

constexpr std::uint64_t parts = 128;
constexpr std::uint32_t smallest = 4;

struct Entry {
    std::int64_t instant; // steady, ns
    std::uint64_t count;
};

struct Ring {
    std::int64_t latest;      // latest `now` of any call: time does not run backwards
    std::int64_t left;        // the newest instant that has left the window
    std::int64_t paced_until; // the earliest next admission of a paced limit
    std::uint64_t sum;
    std::uint32_t first;
    std::uint32_t size;
    std::uint32_t capacity;

    Entry* entries() noexcept { return reinterpret_cast<Entry*>(this + 1); }
    Entry& at(std::uint32_t i) noexcept {
        const std::uint32_t place = first + i;
        return entries()[place < capacity ? place : place - capacity];
    }
    Entry& newest() noexcept { return at(size - 1); }
};
static_assert(sizeof(Ring) == 48 && alignof(Ring) == alignof(Entry) && sizeof(Entry) == 16);

std::int64_t nanoseconds(SteadyTime instant) noexcept {
    return instant.time_since_epoch().count();
}

Ring* ring_of(const CounterCell& slot) noexcept {
    return reinterpret_cast<Ring*>(static_cast<std::uintptr_t>(slot.used));
}

// Moves a ring into memory for `capacity` entries, in a row; makes a new ring if `old` is null.
// Returns nullptr, with nothing changed, if there is no memory.
Ring* resized(Ring* old, std::uint32_t capacity) noexcept {
    auto* const ring = static_cast<Ring*>(std::malloc(sizeof(Ring) + capacity * sizeof(Entry)));
    if (ring == nullptr)
        return nullptr;
    *ring = old != nullptr ? *old : Ring{};
    ring->first = 0;
    ring->capacity = capacity;
    for (std::uint32_t i = 0; old != nullptr && i < old->size; ++i)
        ring->entries()[i] = old->at(i);
    std::free(old);
    return ring;
}

// Drops entries that have left the window; all of them from an expired cell.
void expire(Ring& ring, const ChargeTerms& terms, SteadyTime now) noexcept {
    ring.latest = std::max(ring.latest, nanoseconds(now));
    while (ring.size > 0 && ring.at(0).instant + terms.per.count() <= ring.latest) {
        ring.sum -= ring.at(0).count;
        ring.left = ring.at(0).instant;
        ring.first = ring.first + 1 == ring.capacity ? 0 : ring.first + 1;
        --ring.size;
    }
}

// Divides time into parts of 1/128 of a window's length. Returns the number of the instant's part.
std::int64_t part_of(std::int64_t instant, const ChargeTerms& terms) noexcept {
    const auto width = terms.per.count() / static_cast<std::int64_t>(parts);
    return instant / std::max<std::int64_t>(width, 1);
}

bool joins_newest(Ring& ring, const ChargeTerms& terms) noexcept {
    if (ring.size == 0)
        return false;
    const std::int64_t newest = ring.newest().instant;
    return newest == ring.latest ||
           (terms.quota > parts && part_of(newest, terms) == part_of(ring.latest, terms));
}

// Returns the instant (steady, ns) at which enough admissions have left the window for the charge
// to fit.
std::int64_t until_free(Ring& ring, const ChargeTerms& terms) noexcept {
    std::uint64_t left = ring.sum;
    std::uint32_t i = 0;
    while (left + terms.cost > terms.quota)
        left -= ring.at(i++).count;
    return i == 0 ? ring.latest : ring.at(i - 1).instant + terms.per.count();
}

Verdict check(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    if (terms.cost > terms.quota && terms.quota > 0)
        return {Refusal::cost, Duration::max()};
    Ring* const ring = ring_of(slot);
    if (ring == nullptr)
        return {};
    expire(*ring, terms, now);
    const bool full = ring->sum + terms.cost > terms.quota;
    const bool early = terms.pace && ring->paced_until > nanoseconds(now);
    if (!full && !early) [[likely]]
        return {};
    const std::int64_t until =
        std::max(until_free(*ring, terms), early ? ring->paced_until : ring->latest);
    return {full ? Refusal::window : Refusal::pace, Duration{until - nanoseconds(now)}};
}

bool prepare(CounterCell& slot, const ChargeTerms& terms) noexcept {
    Ring* const ring = ring_of(slot);
    if (ring != nullptr && (ring->size < ring->capacity || joins_newest(*ring, terms))) [[likely]]
        return true;
    const std::uint64_t most = terms.quota > parts ? parts + 1 : terms.quota;
    std::uint32_t capacity = smallest;
    if (ring != nullptr)
        capacity = std::max<std::uint32_t>(
            ring->capacity + 1,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(ring->capacity * 2, most)));
    Ring* const larger = resized(ring, capacity);
    if (larger == nullptr)
        return false;
    slot.used = reinterpret_cast<std::uintptr_t>(larger);
    return true;
}

Receipt charge(CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    Ring& ring = *ring_of(slot);
    expire(ring, terms, now);
    std::int64_t turn = ring.latest - terms.late.count();
    if (ring.size > 0) // an empty ring may hold another key's state
        turn = std::min(std::max(turn, ring.paced_until), ring.latest);
    if (joins_newest(ring, terms)) {
        ring.newest().instant = ring.latest;
        ring.newest().count += terms.cost;
    } else {
        ++ring.size;
        ring.newest() = {ring.latest, terms.cost};
    }
    ring.sum += terms.cost;
    ring.paced_until =
        terms.pace ? turn + divide_up(terms.per.count(), terms.cost, terms.quota) : 0;
    slot.stamp = ring.latest + terms.per.count();
    return {
        .mark = ring.latest,
        .cost = terms.cost,
        .quota = terms.quota,
        .returned = 0,
        .overflow = false};
}

void give_back(
    CounterCell& slot, const ChargeTerms& terms, Receipt& receipt, SteadyTime now) noexcept {
    Ring* const ring = ring_of(slot);
    if (ring == nullptr)
        return;
    expire(*ring, terms, now);
    if (receipt.mark <= ring->left)
        return;
    std::uint32_t i = 0;
    while (i < ring->size && ring->at(i).instant < receipt.mark)
        ++i;
    if (i == ring->size || part_of(ring->at(i).instant, terms) != part_of(receipt.mark, terms))
        return; // the charge has left the window, and the ring was reused
    // The count is lower than the cost if the key was forgotten after the charge.
    const auto given = std::min<std::uint64_t>(ring->at(i).count, terms.cost);
    ring->at(i).count -= given;
    ring->sum -= given;
    if (ring->at(i).count > 0)
        return;
    for (; i + 1 < ring->size; ++i)
        ring->at(i) = ring->at(i + 1);
    --ring->size;
    slot.stamp = ring->size > 0
                     ? std::max(ring->newest().instant + terms.per.count(), ring->paced_until)
                     : -1;
    if (ring->size == 0)
        ring->paced_until = 0;
}

CounterState state(const CounterCell& slot, const ChargeTerms& terms, SteadyTime now) noexcept {
    Ring* const ring = ring_of(slot);
    if (ring == nullptr)
        return {0, terms.quota, Duration{}};
    expire(*ring, terms, now);
    const Duration resets_in{
        ring->size > 0 ? ring->at(0).instant + terms.per.count() - nanoseconds(now) : 0};
    return {ring->sum, terms.quota > ring->sum ? terms.quota - ring->sum : 0, resets_in};
}

std::uint64_t counted(const CounterCell& slot) noexcept {
    const Ring* const ring = ring_of(slot);
    return ring != nullptr ? ring->sum : 0;
}

void discard(CounterCell& slot) noexcept {
    std::free(ring_of(slot));
    slot.used = 0;
}

void save(const CounterCell& slot, std::string& to) {
    Ring& ring = *ring_of(slot); // a live slot has one
    put(to, ring.latest);
    put(to, ring.paced_until);
    put(to, ring.size);
    for (std::uint32_t i = 0; i < ring.size; ++i) {
        put(to, ring.at(i).instant);
        put(to, ring.at(i).count);
    }
}

// Restores a ring. The next expire() drops entries that have left the window meanwhile.
CounterCell load(ByteReader& from, Duration shift, Duration per, SteadyTime now) {
    const auto moved = [shift](std::int64_t instant) { return instant + shift.count(); };
    const std::int64_t latest = std::min(moved(from.take<std::int64_t>()), nanoseconds(now));
    const auto paced_until = from.take<std::int64_t>();
    const auto size = from.take<std::uint32_t>();
    if ((size == 0 && paced_until <= 0) || size > from.rest().size() / sizeof(Entry))
        return {};
    Ring* const ring = resized(nullptr, std::max(size, smallest));
    if (ring == nullptr)
        return {};
    ring->latest = latest;
    ring->paced_until = paced_until > 0 ? moved(paced_until) : 0;
    ring->size = size;
    for (std::uint32_t i = 0; i < size; ++i) {
        const std::int64_t instant = std::min(moved(from.take<std::int64_t>()), latest);
        ring->at(i) = {instant, from.take<std::uint64_t>()};
        ring->sum += ring->at(i).count;
    }
    const std::int64_t left = size > 0 ? ring->newest().instant + per.count() : 0;
    return {
        std::max(left, ring->paced_until), // paced_until may be later after a refund
        reinterpret_cast<std::uintptr_t>(ring)};
}

} // namespace

const AlgorithmOps sliding_window_ops{
    .check = check,
    .charge = charge,
    .give_back = give_back,
    .state = state,
    .counted = counted,
    .prepare = prepare,
    .discard = discard,
    .save = save,
    .load = load};

} // namespace stint::limits
