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
    moving_ = true;
    target_ = "cc" + std::to_string(++replication_ids_);
    note("the slot begins to move");
    for (const auto& [key, entry] : store_.data.keys)
        at(now_ + between(0ms, 600ms), [this, key = key, target = target_] {
            if (moving_ && target == target_)
                move_key(key);
        });
    at(now_ + between(600ms, 2s), [this] {
        if (!moving_)
            move_slot();
    });
}

// MIGRATE moves a key at once: it is gone at the source when it is at the target.
void Simulation::move_key(const std::string& key) {
    moved_[key] = now_;
    note(key + " has moved");
    if (key == LuaStore::registry_key)
        store_.replication_id = target_;
    moving_ = std::ranges::any_of(
        store_.data.keys, [this](const auto& each) { return !moved_.contains(each.first); });
    if (moving_)
        return;
    store_.replication_id = target_;
    note("the slot has moved");
    at(now_ + between(100ms, 1s), [this] { move_slot(); });
}

void Simulation::end_migration() {
    if (!moving_)
        return;
    moving_ = false;
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
