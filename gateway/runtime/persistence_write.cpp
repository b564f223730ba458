// How what has changed gets into the file.
#include "net/clock.hpp"
#include "runtime/persistence.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <iterator>
#include <utility>

namespace stint::runtime {
namespace {

using state::Change;
using state::Failure;

// The size of a transaction, about: that much is in memory twice, and a lease waits that long.
constexpr std::size_t most_bytes = 4U << 20U;

bool kept_always(const limits::LimitIdentity& identity) {
    return identity.per >= Persistence::shortest ||
           identity.algorithm == limits::Algorithm::token_bucket;
}

} // namespace

// Until it is written, and also if that fails or memory runs out, what was taken from the limits
// counts as changed.
struct Persistence::Batch {
    struct Taken {
        limits::LimitPtr limit;
        std::size_t shard;
        std::uint64_t pages;
    };

    Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() {
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

    std::vector<Change> changes;
    std::vector<Taken> taken;
    std::size_t bytes = 0;
};

void Persistence::write(bool last) {
    try {
        // Once more where the file was found broken and another one took its place.
        for (int attempt = 0; attempt < 2; ++attempt) {
            if (!store_)
                reopen(last);
            if (!store_ || write_changes(last) || store_)
                return;
        }
    } catch (const std::exception& exception) {
        note_failure(exception.what());
    }
}

// Opens the file again. Its old rows are stale: the memory has newer state.
void Persistence::reopen(bool last) {
    const SteadyTime now = net::read_steady_clock();
    if (now < next_open_ && !last)
        return;
    next_open_ = now + between_openings;
    const std::optional<Contents> contents = open();
    if (!contents)
        return;
    stale_.clear();
    for (const state::Row& row : contents->counters)
        stale_.push_back(row.key);
    stale_leases_.clear();
    for (const state::Row& row : contents->leases)
        stale_leases_.push_back(row.key);
    leases_anew_ = true;
    anew_ = true;
    introduced_ = false;
    written_.clear();
    for (const limits::LimitPtr& limit : registry_.alive())
        for (std::size_t shard = 0; shard < limit->shards(); ++shard)
            limit->mark_changed(shard, ~std::uint64_t{0});
    const std::lock_guard lock{mutex_};
    claimed_.clear();
}

bool Persistence::write_changes(bool last) {
    Batch batch;
    if (!introduced_)
        introduce(batch);
    adopt_claims(); // before the limits are asked for: whose rows were claimed is among them
    const SavedClock now = SavedClock::read();
    std::set<std::string> alive;
    for (const limits::LimitPtr& limit : registry_.alive()) {
        if (limit->shards() == 0)
            continue;
        const auto key = alive.insert(key_of(limit->identity())).first;
        if ((last || kept_always(limit->identity())) && !add(limit, *key, now, batch))
            return false;
    }
    forget_others(alive, batch);
    note_known(now, batch);
    sweep_unclaimed(now, batch);
    if (last)
        batch.put(own, ended, "1");
    return flush(batch);
}

void Persistence::introduce(Batch& batch) {
    const KeyHasher::Key& key = registry_.hasher().key();
    batch.put(own, hash_key, {key.begin(), key.end()});
    batch.put(own, boot, started_.boot);
    if (!holders_known_ && !grace_over_) {
        batch.put(own, unknown, "1");
        unknown_written_ = true;
    }
    if (leases_anew_)
        introduce_leases(batch);
    batch.erase(own, ended);
    if (!anew_)
        return;
    const std::lock_guard lock{mutex_};
    for (const auto& [limit, pages] : unclaimed_)
        for (const KeptPage& page : pages)
            batch.put(
                counters, row_key(limit, page.page),
                row_value({page.page, page.bytes, page.until}, page.written));
}

// With Stint's own rows, so that no file knows them without who holds what.
void Persistence::introduce_leases(Batch& batch) {
    introduced_leases_ = locks_.everything();
    for (const std::string& key : stale_leases_)
        batch.erase(leases, key);
    for (Change& change : changes_of(*introduced_leases_))
        batch.changes.push_back(std::move(change));
}

// The grace is over.
void Persistence::note_known(const SavedClock& now, Batch& batch) {
    if (!unknown_written_)
        return;
    const std::lock_guard lock{mutex_};
    if (now.at.steady < known_from_)
        return;
    batch.erase(own, unknown);
    unknown_written_ = false;
    grace_over_ = true;
}

void Persistence::adopt_claims() {
    const std::lock_guard lock{mutex_};
    for (auto& [limit, pages] : claimed_) {
        Written& written = written_[limit];
        written.limit.reset();
        written.pages.merge(pages);
    }
    claimed_.clear();
}

// Adds the limit's changed pages. Rows that only a former limit of this identity has written are
// erased after them.
bool Persistence::add(
    const limits::LimitPtr& limit, const std::string& key, const SavedClock& now, Batch& batch) {
    Written& written = written_[key];
    std::set<std::uint32_t> former;
    if (written.limit.lock() != limit) {
        former.swap(written.pages);
        written.limit = limit;
    }
    std::vector<limits::SavedPage> pages;
    for (std::size_t shard = 0; shard < limit->shards(); ++shard) {
        batch.taken.push_back({limit, shard, 0});
        batch.taken.back().pages = limit->take_changed(shard);
        pages.clear();
        limit->save(shard, batch.taken.back().pages, now.at, pages);
        for (const limits::SavedPage& page : pages) {
            if (!page.bytes.empty()) {
                written.pages.insert(page.page);
                batch.put(counters, row_key(key, page.page), row_value(page, now));
            } else if (written.pages.erase(page.page) > 0) {
                batch.erase(counters, row_key(key, page.page));
            }
        }
        if (batch.taken.back().pages == 0)
            batch.taken.pop_back();
        if (batch.bytes <= most_bytes)
            continue;
        if (!flush(batch))
            return false;
        write_leases_meanwhile();
        if (!store_)
            return false;
    }
    for (const std::uint32_t page : former)
        if (!written.pages.contains(page))
            batch.erase(counters, row_key(key, page));
    return true;
}

// Erases all rows of limits that no longer exist.
void Persistence::forget_others(const std::set<std::string>& alive, Batch& batch) {
    std::erase_if(written_, [&](const auto& entry) {
        if (alive.contains(entry.first))
            return false;
        for (const std::uint32_t page : entry.second.pages)
            batch.erase(counters, row_key(entry.first, page));
        return true;
    });
}

void Persistence::sweep_unclaimed(const SavedClock& now, Batch& batch) {
    if (now.at.steady < next_sweep_)
        return;
    next_sweep_ = now.at.steady + between_sweeps;
    const std::lock_guard lock{mutex_};
    for (auto each = unclaimed_.begin(); each != unclaimed_.end();) {
        auto& [limit, pages] = *each;
        for (const KeptPage& page : pages)
            if (page.over(now))
                batch.erase(counters, row_key(limit, page.page));
        std::erase_if(pages, [&](const KeptPage& page) { return page.over(now); });
        each = pages.empty() ? unclaimed_.erase(each) : std::next(each);
    }
}

bool Persistence::flush(Batch& batch) {
    if (stale_.empty() && batch.changes.empty()) {
        batch.taken.clear(); // the taken pages have no rows, and need none
        return true;
    }
    std::vector<Change> changes;
    for (const std::string& key : stale_)
        changes.push_back({counters, key, std::nullopt});
    std::move(batch.changes.begin(), batch.changes.end(), std::back_inserter(changes));
    batch.changes.clear();
    batch.bytes = 0;
    const auto done = store_->write(changes);
    stale_.clear();
    if (introduced_leases_)
        settle_introduced(done.has_value());
    if (!done) {
        for (Change& change : changes)
            if (!change.value && change.table == counters)
                stale_.push_back(std::move(change.key));
        note_failed(done.error());
        return false;
    }
    batch.taken.clear();
    introduced_ = true;
    anew_ = false;
    ++writes_;
    last_write_.store(
        net::read_clocks().wall.time_since_epoch().count(), std::memory_order_relaxed);
    if (std::exchange(failing_, false))
        spdlog::info("state: {} is written again", file_.string());
    return true;
}

void Persistence::note_failed(const Failure& failure) {
    if (failure.kind == Failure::Kind::unavailable)
        return note_failure(failure.why);
    ++write_failures_;
    if (move_aside(failure))
        next_open_ = {};
}

void Persistence::note_failure(const std::string& why) {
    ++write_failures_;
    // At the very end the log may be gone already.
    if (!std::exchange(failing_, true) && spdlog::default_logger_raw() != nullptr)
        spdlog::error(
            "state: {}: {}; until it can be written counts are in memory alone", file_.string(),
            why);
}

} // namespace stint::runtime
