// Changes of the state file that are written in one transaction.
#pragma once

#include "limits/limit.hpp"
#include "state/store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::runtime {

// The destructor marks the pages in `taken` as changed again. After a successful write the caller
// clears `taken`, so pages of a failed write are saved by the next round.
struct StateBatch {
    struct Taken {
        limits::LimitPtr limit;
        std::size_t shard;
        std::uint64_t pages;
    };

    StateBatch() = default;
    StateBatch(const StateBatch&) = delete;
    StateBatch& operator=(const StateBatch&) = delete;
    ~StateBatch() {
        for (const Taken& each : taken)
            each.limit->mark_changed(each.shard, each.pages);
    }

    void put(const char* table, std::string key, std::string value) {
        bytes += key.size() + value.size();
        changes.push_back({table, std::move(key), std::move(value)});
    }
    void erase(const char* table, std::string key) {
        changes.push_back({table, std::move(key), std::nullopt});
    }

    std::vector<state::Change> changes;
    std::vector<Taken> taken;
    std::size_t bytes = 0;
};

} // namespace stint::runtime
