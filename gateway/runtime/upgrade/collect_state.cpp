#include "runtime/upgrade/collect_state.hpp"

#include "base/lock_names.hpp"
#include "runtime/lease_writer.hpp"
#include "runtime/saved_changes.hpp"
#include "runtime/saved_rows.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace stint::runtime {
namespace {

void add_counters(const limits::Limit& limit, const SavedClock& now, HandedState& to) {
    const std::string identity = key_of(limit.identity());
    std::vector<limits::SavedPage> pages;
    for (std::size_t shard = 0; shard < limit.shards(); ++shard)
        limit.save(shard, ~std::uint64_t{0}, now.at, pages);
    for (const limits::SavedPage& page : pages)
        if (!page.bytes.empty())
            to.contents.counters.push_back({row_key(identity, page.page), row_value(page, now)});
}

// Returns false if some slots cannot be told by key. The slots of locks are those of their leases.
bool add_slots(const limits::Limit& limit, HandedState& to) {
    if (limit.identity().name.starts_with(lock_prefix))
        return true;
    limits::Limit::HeldSlots held;
    (void)limit.in_flight(&held);
    const std::string identity = key_of(limit.identity());
    for (const auto& [key, slots] : held.keys)
        to.slots.push_back({identity, key, slots});
    return held.complete;
}

void add_reported(
    const limits::Registry& registry, const permits::ReportedCooldowns& reported, HandedState& to) {
    const auto pauses = reported.all();
    if (pauses.empty())
        return;
    for (const limits::LimitPtr& limit : registry.alive())
        for (auto each = pauses.lower_bound({limit->ordinal(), {}});
             each != pauses.end() && each->first.limit == limit->ordinal(); ++each)
            to.reported.push_back(
                {key_of(limit->identity()),
                 each->first.key,
                 {each->second.status, each->second.end}});
}

void add_leases(locks::LockManager& locks, HandedState& to) {
    const locks::LockManager::Records records = locks.everything();
    for (state::Change& change : LeaseWriter::changes_of(records))
        if (change.value)
            (change.table == StateFile::own ? to.contents.own : to.contents.leases)
                .push_back({std::move(change.key), *std::move(change.value)});
    locks.written(records);
}

} // namespace

std::string reason_to_restart(const config::Config& config) {
    for (const config::Limit& limit : config.limits)
        if (limit.lock && limit.shared)
            return "gateways share lock " + std::string{lock_name(limit.name)} +
                   ", whose leases are not handed over: restart instead";
    return {};
}

Result<HandedState, std::string> collect_state(
    const limits::Registry& registry,
    const permits::ReportedCooldowns& reported,
    locks::LockManager& locks,
    const RuntimeOverlay& overlay,
    const ConfigStore& store,
    const Persistence* persistence) {
    HandedState state;
    const SavedClock now = SavedClock::read();
    const KeyHasher::Key& key = registry.hasher().key();
    state.contents.own.push_back({Persistence::hash_key, {key.begin(), key.end()}});
    for (const limits::LimitPtr& limit : registry.alive()) {
        // The session of this process keeps its share of a shared limit, and what is used of it.
        // The new process has another session.
        if (!limit->identity().store.empty())
            continue;
        if (limit->identity().algorithm != limits::Algorithm::concurrency)
            add_counters(*limit, now, state);
        else if (!add_slots(*limit, state))
            return "limit " + limit->identity().name +
                   " has requests in flight with more keys than it can tell apart (max_keys)";
    }
    if (persistence != nullptr)
        persistence->add_unclaimed(state.contents.counters);
    add_leases(locks, state);
    add_reported(registry, reported, state);
    for (const auto& [target, change] : overlay.limits().all())
        if (const auto saved = with_identity(change, store.compiled()))
            state.contents.changes.push_back(row_of(*saved, now));
    state.drained = overlay.drained();
    state.ticket_keys = store.ticket_keys()->save();
    return state;
}

} // namespace stint::runtime
