#include "runtime/lease_writer.hpp"

#include "base/bytes.hpp"
#include "locks/saved_lease.hpp"
#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace stint::runtime {

void LeaseWriter::restore(const StateFile::Contents& contents, const Now& now) {
    std::vector<locks::SavedLease> held;
    for (const state::Row& row : contents.leases) {
        if (auto lease = locks::read_row(row.key, row.value))
            held.push_back(*std::move(lease));
        else
            stale_.push_back(row.key);
    }
    std::uint64_t highest = 0;
    if (const auto row = std::ranges::find(contents.own, fence, &state::Row::key);
        row != contents.own.end())
        highest = ByteReader{row->value}.take<std::uint64_t>();
    locks_.restore(held, highest, now);
    if (!held.empty())
        spdlog::info("state: {} leases of locks go on, each for its ttl", held.size());
}

void LeaseWriter::drop(const std::vector<state::Row>& rows) {
    for (const state::Row& row : rows)
        stale_.push_back(row.key);
}

void LeaseWriter::begin_anew(const std::vector<state::Row>& rows) {
    stale_.clear();
    drop(rows);
    anew_ = true;
}

void LeaseWriter::write(bool writable) {
    try {
        locks::LockManager::Records records = locks_.take_records();
        if (records.changes.empty() && stale_.empty())
            return;
        if (writable && try_write(records))
            locks_.written(records);
        else
            locks_.not_written(std::move(records), net::read_clocks());
    } catch (const std::exception& exception) {
        file_.note_failure(exception.what());
    }
}

bool LeaseWriter::try_write(const locks::LockManager::Records& records) {
    try {
        std::vector<state::Change> changes;
        for (const std::string& key : stale_)
            changes.push_back({StateFile::leases, key, std::nullopt});
        for (state::Change& change : changes_of(records))
            changes.push_back(std::move(change));
        if (const auto done = file_.write(changes); !done) {
            file_.note_failed(done.error());
            return false;
        }
        stale_.clear();
        return true;
    } catch (const std::exception& exception) {
        file_.close(); // ends a transaction that was begun
        file_.note_failure(exception.what());
        return false;
    }
}

std::vector<state::Change> LeaseWriter::changes_of(const locks::LockManager::Records& records) {
    std::vector<state::Change> changes;
    for (const auto& each : records.changes)
        changes.push_back(
            {StateFile::leases, locks::row_key(each.id),
             each.lease ? std::optional{locks::row_value(*each.lease)} : std::nullopt});
    std::string highest;
    put(highest, records.fence);
    changes.push_back({StateFile::own, fence, std::move(highest)});
    return changes;
}

void LeaseWriter::introduce(std::vector<state::Change>& changes) {
    if (!anew_)
        return;
    introduced_ = locks_.everything();
    for (const std::string& key : stale_)
        changes.push_back({StateFile::leases, key, std::nullopt});
    for (state::Change& change : changes_of(*introduced_))
        changes.push_back(std::move(change));
}

void LeaseWriter::settle_introduced(bool done) noexcept try {
    if (!introduced_)
        return;
    locks::LockManager::Records records = *std::exchange(introduced_, std::nullopt);
    if (!done)
        return locks_.not_written(std::move(records), net::read_clocks());
    stale_.clear();
    anew_ = false;
    locks_.written(records);
} catch (const std::exception&) { // no memory: the next introduction tells all leases again
}

} // namespace stint::runtime
