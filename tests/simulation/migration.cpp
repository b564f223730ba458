// The hash slot of a store moves from one node of a Cluster to another, key by key. A call is
// served only where all of its keys are. The source may fail over meanwhile: its replica owns the
// slot then, without what moved long before, and without what was written last.
#include "lua_store.hpp"
#include "simulated_gateway.hpp"

#include <algorithm>

namespace stint::shared {

using namespace std::chrono_literals;

void Simulation::move_slot() {
    moved_.clear();
    set_moving(true);
    source_ = store_.replication_id;
    target_ = "cc" + std::to_string(++replication_ids_);
    note("the slot begins to move");
    const auto when_on_its_way = [this](Instant when, auto happen) {
        at(when, [this, happen, target = target_] {
            if (moving_ && target == target_)
                happen();
        });
    };
    for (const auto& [key, entry] : store_.data.keys)
        when_on_its_way(now_ + between(0ms, 600ms), [this, key = key] { move_key(key); });
    if (chance(0.3))
        when_on_its_way(now_ + between(50ms, 600ms), [this] { break_off(); });
    if (store_.data.keys.empty())
        break_off();
}

void Simulation::set_moving(bool moving) {
    moving_ = store_.slot_moves = moving;
}

// The source keeps the slot, without what has moved.
void Simulation::break_off() {
    set_moving(false);
    std::erase_if(
        store_.data.keys, [this](const auto& each) { return moved_.contains(each.first); });
    store_.replication_id = source_;
    note("the migration is broken off");
    at(now_ + between(100ms, 1s), [this] { move_slot(); });
}

// MIGRATE moves a key at once: it is gone at the source when it is at the target.
void Simulation::move_key(const std::string& key) {
    moved_[key] = now_;
    note(key + " has moved");
    if (key == LuaStore::registry_key)
        store_.replication_id = target_;
    set_moving(std::ranges::any_of(
        store_.data.keys, [this](const auto& each) { return !moved_.contains(each.first); }));
    if (moving_)
        return;
    store_.replication_id = target_;
    note("the slot has moved");
    at(now_ + between(100ms, 1s), [this] { move_slot(); });
}

void Simulation::end_migration() {
    if (!moving_)
        return;
    set_moving(false);
    std::erase_if(store_.data.keys, [this](const auto& each) {
        const auto moved = moved_.find(each.first);
        return moved != moved_.end() && moved->second <= replica_at_;
    });
    at(now_ + between(300ms, 2s), [this] { move_slot(); });
}

bool Simulation::serves(const Call& call) const {
    if (!moving_ || call.counter.empty())
        return true;
    return store_.data.keys.contains(call.counter) &&
           moved_.contains(call.counter) == moved_.contains(std::string{LuaStore::registry_key});
}

} // namespace stint::shared
