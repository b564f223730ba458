// Leases, before they are granted.
#include "base/bytes.hpp"
#include "locks/saved_lease.hpp"
#include "net/clock.hpp"
#include "runtime/persistence.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::runtime {

void Persistence::restore_leases(const Contents& contents) {
    std::vector<locks::SavedLease> held;
    for (const state::Row& row : contents.leases) {
        if (auto lease = locks::read_row(row.key, row.value))
            held.push_back(*std::move(lease));
        else
            stale_leases_.push_back(row.key);
    }
    std::uint64_t highest = 0;
    if (const auto row = std::ranges::find(contents.own, fence, &state::Row::key);
        row != contents.own.end())
        highest = ByteReader{row->value}.take<std::uint64_t>();
    locks_.restore(held, highest, started_.at);
    if (!held.empty())
        spdlog::info("state: {} leases of locks go on, each for its ttl", held.size());
}

// Writes new leases; the callers that were granted them wait for it. Needs Stint's own rows in the
// file: without them the leases could not be read.
void Persistence::write_leases() {
    try {
        locks::LockManager::Records records = locks_.take_records();
        if (records.changes.empty() && stale_leases_.empty())
            return;
        if (store_ && introduced_ && try_write(records))
            locks_.written(records);
        else
            locks_.not_written(std::move(records), net::read_clocks());
    } catch (const std::exception& exception) {
        note_failure(exception.what());
    }
}

// Writes leases during a round of counts, so that their callers do not wait for its end. The file
// may be gone afterwards.
void Persistence::write_leases_meanwhile() {
    {
        const std::lock_guard lock{mutex_};
        if (!std::exchange(leases_recorded_, false))
            return;
    }
    write_leases();
}

bool Persistence::try_write(const locks::LockManager::Records& records) {
    try {
        std::vector<state::Change> changes;
        for (const std::string& key : stale_leases_)
            changes.push_back({leases, key, std::nullopt});
        for (state::Change& change : changes_of(records))
            changes.push_back(std::move(change));
        if (const auto done = store_->write(changes); !done) {
            note_failed(done.error());
            return false;
        }
        stale_leases_.clear();
        ++writes_;
        return true;
    } catch (const std::exception& exception) {
        note_failure(exception.what());
        return false;
    }
}

std::vector<state::Change> Persistence::changes_of(const locks::LockManager::Records& records) {
    std::vector<state::Change> changes;
    for (const auto& each : records.changes)
        changes.push_back(
            {leases, locks::row_key(each.id),
             each.lease ? std::optional{locks::row_value(*each.lease)} : std::nullopt});
    std::string highest;
    put(highest, records.fence);
    changes.push_back({own, fence, std::move(highest)});
    return changes;
}

void Persistence::settle_introduced(bool done) {
    locks::LockManager::Records records = *std::exchange(introduced_leases_, std::nullopt);
    if (!done)
        return locks_.not_written(std::move(records), net::read_clocks());
    stale_leases_.clear();
    leases_anew_ = false;
    locks_.written(records);
}

} // namespace stint::runtime
