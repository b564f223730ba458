#include "runtime/saved_changes.hpp"

#include "base/bytes.hpp"
#include "runtime/state_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace stint::runtime {
namespace {

constexpr std::int64_t never = 0; // encodes LimitChange::expires without a value

std::int64_t nanoseconds(std::optional<SteadyTime> instant) noexcept {
    return instant ? instant->time_since_epoch().count() : never;
}

// Returns the key of the row of a change.
std::string row_key_of(const LimitChange::Target& target) {
    std::string key;
    put_text(key, target.limit);
    put(key, static_cast<std::uint8_t>(target.kind));
    put_text(key, target.key);
    return key;
}

// Returns nullptr if there is no limit of that name.
const limits::LimitIdentity* identity_of(const std::string& limit, const Compiled& compiled) {
    const auto index = compiled.limit_named(limit);
    return index ? &compiled.limits[*index].limit->identity() : nullptr;
}

} // namespace

std::optional<SavedChange> with_identity(const LimitChange& change, const Compiled& compiled) {
    const auto* const identity = identity_of(change.target.limit, compiled);
    return identity == nullptr ? std::nullopt
                               : std::optional{SavedChange{change, key_of(*identity)}};
}

std::vector<LimitChange> still_valid(std::vector<SavedChange> saved, const Compiled& compiled) {
    std::vector<LimitChange> valid;
    for (SavedChange& each : saved) {
        const auto* const identity = identity_of(each.change.target.limit, compiled);
        if (identity != nullptr && key_of(*identity) == each.identity)
            valid.push_back(std::move(each.change));
        else
            spdlog::warn(
                "limit {}: a change that was made at run time has ended, because the limit is "
                "another one now",
                each.change.target.limit);
    }
    return valid;
}

state::Row row_of(const SavedChange& saved, const SavedClock& written) {
    const LimitChange& change = saved.change;
    state::Row row{row_key_of(change.target), {}};
    put_text(row.value, written.boot);
    put(row.value, written.at.steady.time_since_epoch().count());
    put(row.value, written.at.wall.time_since_epoch().count());
    put(row.value, nanoseconds(change.expires));
    put(row.value, change.since.time_since_epoch().count());
    put(row.value, change.numbers.quota);
    put(row.value, change.numbers.burst);
    put(row.value, static_cast<std::uint8_t>(change.enforce));
    put_text(row.value, change.by.who);
    put_text(row.value, change.by.why);
    put_text(row.value, saved.identity);
    return row;
}

std::optional<SavedChange> change_in(const state::Row& row, const SavedClock& now) {
    SavedChange saved;
    LimitChange& change = saved.change;
    ByteReader key{row.key};
    change.target.limit = key.take_text();
    const auto kind = key.take<std::uint8_t>();
    change.target.key = key.take_text();
    ByteReader value{row.value};
    SavedClock written;
    written.boot = value.take_text();
    written.at.steady = SteadyTime{Duration{value.take<std::int64_t>()}};
    written.at.wall = WallTime{Duration{value.take<std::int64_t>()}};
    const auto expires = value.take<std::int64_t>();
    change.since = WallTime{Duration{value.take<std::int64_t>()}};
    change.numbers.quota = value.take<std::uint64_t>();
    change.numbers.burst = value.take<std::uint64_t>();
    change.enforce = value.take<std::uint8_t>() != 0;
    change.by.who = value.take_text();
    change.by.why = value.take_text();
    saved.identity = value.take_text();
    const bool good = key.good() && value.good() && kind <= std::uint8_t{3};
    if (!good)
        return std::nullopt;
    change.target.kind = static_cast<LimitChange::Kind>(kind);
    if (expires == never)
        return saved;
    change.expires = SteadyTime{Duration{expires}} + written.shift_to(now);
    return *change.expires > now.at.steady ? std::optional{std::move(saved)} : std::nullopt;
}

std::vector<SavedChange>
ChangeWriter::restore(std::vector<state::Row> rows, const SavedClock& started) {
    std::vector<SavedChange> changes;
    for (const state::Row& row : rows)
        if (auto change = change_in(row, started))
            changes.push_back(std::move(*change));
    begin_anew(std::move(rows));
    return changes;
}

void ChangeWriter::begin_anew(std::vector<state::Row> rows) {
    const std::lock_guard lock{mutex_};
    adding_.clear();
    added_.clear();
    in_file_.clear();
    for (state::Row& row : rows)
        in_file_.insert(std::move(row.key));
    unwritten_ = in_file_;
    for (const auto& [key, change] : wanted_)
        unwritten_.insert(key);
}

void ChangeWriter::set(const std::vector<SavedChange>& changes) {
    const std::lock_guard lock{mutex_};
    is_set_ = true;
    ++version_;
    for (const auto& [key, change] : wanted_)
        unwritten_.insert(key);
    wanted_.clear();
    for (const SavedChange& each : changes) {
        std::string key = row_key_of(each.change.target);
        unwritten_.insert(key);
        wanted_.insert_or_assign(std::move(key), each);
    }
}

void ChangeWriter::put(SavedChange change, std::string loss) {
    std::string key = row_key_of(change.change.target);
    const std::lock_guard lock{mutex_};
    ++version_;
    unwritten_.insert(key);
    losses_.insert_or_assign(key, std::move(loss));
    wanted_.insert_or_assign(std::move(key), std::move(change));
}

void ChangeWriter::erase(const LimitChange::Target& target, std::string loss) {
    std::string key = row_key_of(target);
    const std::lock_guard lock{mutex_};
    wanted_.erase(key);
    if (in_file_.contains(key) || adding_.contains(key)) {
        ++version_;
        unwritten_.insert(key);
        losses_.insert_or_assign(std::move(key), std::move(loss));
    } else { // there is nothing to lose
        unwritten_.erase(key);
        losses_.erase(key);
    }
}

void ChangeWriter::add_to(StateBatch& batch, const SavedClock& now) {
    const std::lock_guard lock{mutex_};
    if (!is_set_)
        return;
    for (const std::string& key : unwritten_) {
        const auto wanted = wanted_.find(key);
        if (wanted == wanted_.end() && !in_file_.contains(key))
            continue;
        adding_.insert(key);
        if (wanted == wanted_.end()) {
            batch.erase(StateFile::operators, key);
            continue;
        }
        added_.insert(key);
        batch.put(StateFile::operators, key, row_of(wanted->second, now).value);
    }
    unwritten_.clear();
    adding_version_ = version_;
    if (adding_.empty())
        written_version_ = version_;
}

void ChangeWriter::settle(bool written) {
    const std::lock_guard lock{mutex_};
    if (adding_.empty())
        return;
    if (written) {
        for (const std::string& key : adding_) {
            if (!added_.contains(key))
                in_file_.erase(key);
            if (!unwritten_.contains(key))
                losses_.erase(key);
        }
        in_file_.merge(added_);
        written_version_ = adding_version_;
        why_.clear();
    } else {
        unwritten_.merge(adding_);
    }
    adding_.clear();
    added_.clear();
}

std::uint64_t ChangeWriter::version() {
    const std::lock_guard lock{mutex_};
    return version_;
}

std::vector<std::string> ChangeWriter::end_attempt(std::uint64_t version, std::string why) {
    const std::lock_guard lock{mutex_};
    attempted_version_ = version;
    std::vector<std::string> lost;
    if (written_version_ >= version)
        return lost;
    why_ = std::move(why);
    for (auto& [key, line] : losses_)
        lost.push_back(std::move(line));
    losses_.clear();
    return lost;
}

bool ChangeWriter::is_settled(std::uint64_t version) {
    const std::lock_guard lock{mutex_};
    return std::max(written_version_, attempted_version_) >= version;
}

ChangeWriter::Unwritten ChangeWriter::unwritten() {
    const std::lock_guard lock{mutex_};
    return {!unwritten_.empty() || !adding_.empty(), why_};
}

} // namespace stint::runtime
