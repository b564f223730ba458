#include "runtime/counter_writer.hpp"

#include "runtime/state_file.hpp"

#include <spdlog/spdlog.h>

#include <iterator>
#include <optional>
#include <utility>

namespace stint::runtime {
namespace {

// A transaction is written when it reaches about this size. The bound limits memory, which holds
// each transaction twice, and the time that new leases wait for the transaction to end.
constexpr std::size_t most_bytes = 4U << 20U;

bool kept_always(const limits::LimitIdentity& identity) {
    return identity.per >= CounterWriter::shortest ||
           identity.algorithm == limits::Algorithm::token_bucket;
}

} // namespace

void CounterWriter::Rows::add(std::uint32_t page, std::size_t shards_then) {
    shards = pages.empty() || shards == shards_then ? shards_then : 0;
    pages.insert(page);
}

void CounterWriter::Rows::merge(Rows& other) {
    if (!other.pages.empty())
        shards = pages.empty() || shards == other.shards ? other.shards : 0;
    pages.merge(other.pages);
    other.pages.clear();
}

void CounterWriter::keep_unclaimed(const std::vector<state::Row>& rows, const SavedClock& started) {
    for (const state::Row& row : rows) {
        std::optional<LimitRow> read = read_row(row.key, row.value);
        if (read && !read->page.over(started))
            unclaimed_[read->limit].push_back(std::move(read->page));
        else
            stale_.push_back(row.key);
    }
}

void CounterWriter::drop(const std::vector<state::Row>& rows) {
    for (const state::Row& row : rows)
        stale_.push_back(row.key);
}

std::size_t CounterWriter::unclaimed() const {
    const std::lock_guard lock{mutex_};
    return unclaimed_.size();
}

void CounterWriter::claim(limits::Limit& limit) {
    std::vector<KeptPage> kept;
    {
        const std::string key = key_of(limit.identity());
        const std::lock_guard lock{mutex_};
        auto found = unclaimed_.extract(key);
        if (found.empty())
            return;
        kept = std::move(found.mapped());
        for (const KeptPage& page : kept)
            claimed_[key].add(page.page, limits::shards_of(page.bytes));
    }
    const SavedClock now = SavedClock::read();
    std::vector<limits::RestoredPage> pages;
    for (const KeptPage& page : kept)
        pages.push_back({page.page, page.bytes, page.written.shift_to(now)});
    if (!limit.restore(pages, now.at))
        spdlog::error("state: limit {}: some of its counts cannot be read", limit.identity().name);
}

void CounterWriter::begin_anew(const std::vector<state::Row>& rows) {
    stale_.clear();
    written_.clear();
    // Rows that can be used stay until their limit has been written anew: a crash in between leaves
    // all counts in the file.
    for (const state::Row& row : rows)
        if (const std::optional<LimitRow> read = read_row(row.key, row.value))
            written_[read->limit].former.add(read->page.page, limits::shards_of(read->page.bytes));
        else
            stale_.push_back(row.key);
    for (const limits::LimitPtr& limit : registry_.alive())
        for (std::size_t shard = 0; shard < limit->shards(); ++shard)
            limit->mark_changed(shard, ~std::uint64_t{0});
    const std::lock_guard lock{mutex_};
    claimed_.clear();
}

void CounterWriter::add_unclaimed(StateBatch& batch) const {
    const std::lock_guard lock{mutex_};
    for (const auto& [limit, pages] : unclaimed_)
        for (const KeptPage& page : pages)
            batch.put(
                StateFile::counters, row_key(limit, page.page),
                row_value({page.page, page.bytes, page.until}, page.written));
}

bool CounterWriter::add_changes(
    bool last, const SavedClock& now, StateBatch& batch, const std::function<bool()>& flush) {
    // Before alive(): it has every limit whose claim is adopted, or else its claim would be taken
    // for that of a limit that has ended. It may have limits whose claims are not adopted yet.
    adopt_claims();
    std::set<std::string> alive;
    for (const limits::LimitPtr& limit : registry_.alive()) {
        if (limit->shards() == 0)
            continue;
        const auto key = alive.insert(key_of(limit->identity())).first;
        if ((last || kept_always(limit->identity())) && !add(limit, *key, now, batch, flush))
            return false;
    }
    forget_others(alive, batch);
    return true;
}

void CounterWriter::adopt_claims() {
    const std::lock_guard lock{mutex_};
    for (auto& [limit, rows] : claimed_)
        written_[limit].former.merge(rows);
    claimed_.clear();
}

void CounterWriter::adopt_claim(const std::string& key, Written& written) {
    const std::lock_guard lock{mutex_};
    if (const auto claimed = claimed_.find(key); claimed != claimed_.end()) {
        written.former.merge(claimed->second);
        claimed_.erase(claimed);
    }
}

// Adds the limit's changed pages to the batch, then erases the former rows that this limit has not
// written. If those have the keys on other pages, all goes into one transaction: a part of the
// pages would replace rows whose keys are on later ones. Returns false if `flush` did.
bool CounterWriter::add(
    const limits::LimitPtr& limit,
    const std::string& key,
    const SavedClock& now,
    StateBatch& batch,
    const std::function<bool()>& flush) {
    Written& written = written_[key];
    adopt_claim(key, written);
    if (written.limit.lock() != limit) {
        written.former.merge(written.own);
        written.own.shards = limit->shards();
        written.limit = limit;
    }
    const bool at_once = !written.former.pages.empty() && written.former.shards != limit->shards();
    if (at_once && !batch.changes.empty() && !flush())
        return false;
    std::vector<limits::SavedPage> pages;
    for (std::size_t shard = 0; shard < limit->shards(); ++shard) {
        // Reserves memory first: if push_back() failed after take_changed(), the marks of the
        // changed pages would be lost.
        if (batch.taken.size() == batch.taken.capacity())
            batch.taken.reserve(2 * batch.taken.size() + 16);
        const std::uint64_t taken = limit->take_changed(shard);
        if (taken == 0)
            continue;
        batch.taken.push_back({limit, shard, taken});
        pages.clear();
        limit->save(shard, taken, now.at, pages);
        for (const limits::SavedPage& page : pages) {
            if (!page.bytes.empty()) {
                written.own.pages.insert(page.page);
                batch.put(StateFile::counters, row_key(key, page.page), row_value(page, now));
            } else if (written.own.pages.erase(page.page) > 0) {
                batch.erase(StateFile::counters, row_key(key, page.page));
            }
        }
        if (batch.bytes > most_bytes && !at_once && !flush())
            return false;
    }
    for (const std::uint32_t page : written.former.pages)
        if (!written.own.pages.contains(page))
            batch.erase(StateFile::counters, row_key(key, page));
    written.replaced = true;
    return true;
}

// Erases all rows of limits that no longer exist. Limits that are about to be made keep theirs.
void CounterWriter::forget_others(const std::set<std::string>& alive, StateBatch& batch) {
    const std::lock_guard lock{mutex_};
    std::erase_if(written_, [&](const auto& entry) {
        const auto& [limit, written] = entry;
        if (alive.contains(limit) || unclaimed_.contains(limit) || claimed_.contains(limit))
            return false;
        for (const Rows* const rows : {&written.own, &written.former})
            for (const std::uint32_t page : rows->pages)
                batch.erase(StateFile::counters, row_key(limit, page));
        return true;
    });
}

void CounterWriter::sweep_unclaimed(const SavedClock& now, StateBatch& batch) {
    if (now.at.steady < next_sweep_)
        return;
    next_sweep_ = now.at.steady + between_sweeps;
    const std::lock_guard lock{mutex_};
    for (auto each = unclaimed_.begin(); each != unclaimed_.end();) {
        auto& [limit, pages] = *each;
        for (const KeptPage& page : pages)
            if (page.over(now))
                batch.erase(StateFile::counters, row_key(limit, page.page));
        std::erase_if(pages, [&](const KeptPage& page) { return page.over(now); });
        each = pages.empty() ? unclaimed_.erase(each) : std::next(each);
    }
}

std::vector<state::Change> CounterWriter::stale_rows() const {
    std::vector<state::Change> changes;
    for (const std::string& key : stale_)
        changes.push_back({StateFile::counters, key, std::nullopt});
    return changes;
}

void CounterWriter::settle_written() noexcept {
    stale_.clear();
    for (auto& [limit, written] : written_)
        if (std::exchange(written.replaced, false))
            written.former.pages.clear();
}

void CounterWriter::settle_failed(std::vector<state::Change> changes) {
    stale_.clear();
    for (auto& [limit, written] : written_)
        written.replaced = false;
    for (state::Change& change : changes) {
        if (change.value || change.table != StateFile::counters)
            continue;
        // Rows of `former` stay until those in their place are written.
        const auto row = row_in(change.key);
        const auto written = row ? written_.find(row->limit) : written_.end();
        if (written == written_.end() || !written->second.former.pages.contains(row->page))
            stale_.push_back(std::move(change.key));
    }
}

} // namespace stint::runtime
