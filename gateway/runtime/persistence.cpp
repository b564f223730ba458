#include "runtime/persistence.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <pthread.h>
#include <signal.h>
#include <utility>

namespace stint::runtime {
namespace {

const std::string* value_of(const std::vector<state::Row>& rows, std::string_view key) {
    const auto found = std::ranges::find(rows, key, &state::Row::key);
    return found != rows.end() ? &found->value : nullptr;
}

std::optional<KeyHasher> hasher_of(const std::string* value) {
    KeyHasher::Key key;
    if (value == nullptr || value->size() != key.size())
        return std::nullopt;
    std::memcpy(key.data(), value->data(), key.size());
    return KeyHasher{key};
}

} // namespace

Persistence::Persistence(
    const config::State& settings,
    limits::Registry& registry,
    locks::LockManager& locks,
    std::optional<StateFile::Contents> handed)
    : registry_{registry}, locks_{locks}, started_{SavedClock::read()},
      closed_{settings.closed_on_start}, file_{settings.file}, counters_{registry_}, leases_{
                                                                                         locks,
                                                                                         file_} {
    if (handed)
        load(*std::move(handed));
    else if (!file_.path().empty())
        load();
    if (closed_)
        spdlog::warn(
            "state: the counts of the last run are not known to be complete: each limit is "
            "closed until one window of it has passed");
    registry_.on_made([this](limits::Limit& limit) { claim(limit); });
    if (!file_.path().empty())
        start_thread();
}

void Persistence::start_thread() {
    locks_.record([this] {
        {
            const std::lock_guard lock{mutex_};
            leases_recorded_ = true;
        }
        woken_.notify_one();
    });
    stopping_ = false;
    thread_ = std::thread{[this] { run(); }};
    pthread_setname_np(thread_.native_handle(), "stint-state");
}

Persistence::~Persistence() {
    finish();
    registry_.on_made({});
}

void Persistence::finish() {
    if (!thread_.joinable())
        return;
    stop_thread();
    write_leases();
    write(true); // also writes all leases again if this replaces a broken file
    file_.close();
    tell_of_changes(true);
}

void Persistence::stop_thread() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    woken_.notify_one();
    thread_.join();
    locks_.record({});
}

// The file may have been changed meanwhile: all rows are written anew.
void Persistence::go_on() {
    if (file_.path().empty() || thread_.joinable())
        return;
    if (auto contents = file_.open())
        replace_rows(std::move(*contents));
    erase_end_mark();
    start_thread();
    note_changes_made(); // writes at once
}

void Persistence::add_unclaimed(std::vector<state::Row>& rows) const {
    StateBatch batch;
    counters_.add_unclaimed(batch);
    for (state::Change& change : batch.changes)
        rows.push_back({std::move(change.key), *std::move(change.value)});
}

void Persistence::load(StateFile::Contents handed) {
    holders_known_ = true;
    closed_ = false;
    if (!file_.path().empty())
        if (auto former = file_.open())
            replace_rows(std::move(*former));
    if (const auto hasher = hasher_of(value_of(handed.own, hash_key)))
        registry_.use(*hasher);
    counters_.keep_unclaimed(handed.counters, started_);
    leases_.restore(handed, started_.at);
    for (const state::Row& row : handed.changes) // save_changes() follows
        if (auto change = change_in(row, started_))
            saved_changes_.push_back(*std::move(change));
    erase_end_mark(); // the thread writes the rows
    changes_made_ = true;
}

// From now on the file is not that of an orderly end, even if nothing else is written.
void Persistence::erase_end_mark() {
    const state::Change unmark{StateFile::own, ended, std::nullopt};
    if (file_.is_open() && !file_.write({&unmark, 1}))
        file_.close(); // the next round opens it again, and logs the failure
}

void Persistence::load() {
    std::optional<StateFile::Contents> contents = file_.open();
    if (!contents)
        contents = file_.read();
    if (!contents)
        return;
    // A file that can be read but not opened for writing may be older than the last run.
    const bool of_last_run = file_.is_open();
    holders_known_ = of_last_run && !contents->in_place_of_another && knows_holders(contents->own);
    if (const auto hasher = hasher_of(value_of(contents->own, hash_key))) {
        registry_.use(*hasher);
        counters_.keep_unclaimed(contents->counters, started_);
        leases_.restore(*contents, started_.at);
        saved_changes_ = changes_.restore(std::move(contents->changes), started_);
        closed_ = closed_ && !(of_last_run && value_of(contents->own, ended) != nullptr);
        spdlog::info(
            "state: {}: counts of {} limits go on", file_.path().string(), counters_.unclaimed());
    } else { // without the hash key, saved counts match no request
        counters_.drop(contents->counters);
        leases_.drop(contents->leases);
        spdlog::info("state: {} is new: counts begin anew", file_.path().string());
    }
    write(false); // erases the `ended` mark of the last run
}

// Returns true if the rows are those of a new file, of an orderly end, or of the current system
// boot. A crash of the whole system may have lost the last writes, so after a reboot without an
// orderly end the lock holders are unknown.
bool Persistence::knows_holders(const std::vector<state::Row>& rows) const {
    if (value_of(rows, unknown) != nullptr)
        return false;
    if (value_of(rows, hash_key) == nullptr || value_of(rows, ended) != nullptr)
        return true;
    const std::string* const written_in = value_of(rows, boot);
    return written_in != nullptr && !written_in->empty() && *written_in == started_.boot;
}

// Called by the registry for each new limit, on any thread.
void Persistence::claim(limits::Limit& limit) {
    if (closed_)
        limit.close(started_.at);
    counters_.claim(limit);
}

void Persistence::save_changes(const std::vector<SavedChange>& changes) {
    changes_.set(changes);
    note_changes_made();
}

void Persistence::save_change(
    const LimitChange::Target& target, std::optional<SavedChange> change, std::string loss) {
    if (change)
        changes_.put(std::move(*change), std::move(loss));
    else
        changes_.erase(target, std::move(loss));
    note_changes_made();
}

void Persistence::await_changes(std::function<void()> then) {
    const std::uint64_t version = changes_.version();
    {
        const std::lock_guard lock{mutex_};
        if (!file_.path().empty() && !stopping_ && !changes_.is_settled(version)) {
            waiting_for_changes_.emplace_back(version, std::move(then));
            return;
        }
    }
    then();
}

// Calls the callbacks of await_changes() whose changes are written or have failed to be; with
// `last`, all of them.
void Persistence::tell_of_changes(bool last) {
    const std::lock_guard lock{mutex_};
    std::erase_if(waiting_for_changes_, [&](const auto& each) {
        const bool settled = last || changes_.is_settled(each.first);
        if (settled)
            each.second();
        return settled;
    });
}

void Persistence::end_attempt(std::uint64_t version) {
    for (const std::string& loss : changes_.end_attempt(version, file_.failure()))
        if (spdlog::default_logger_raw() != nullptr) // nullptr late in the shutdown
            spdlog::error("{}: {}", loss, file_.failure());
    tell_of_changes(false);
}

void Persistence::note_changes_made() {
    {
        const std::lock_guard lock{mutex_};
        changes_made_ = true;
    }
    woken_.notify_one();
}

void Persistence::holders_known_from(SteadyTime time) {
    const std::lock_guard lock{mutex_};
    known_from_ = time;
}

std::optional<Persistence::Figures> Persistence::collect_metrics() const noexcept {
    if (file_.path().empty())
        return std::nullopt;
    return Figures{
        file_.writes(), file_.write_failures(),
        std::chrono::duration<double>(file_.last_write().time_since_epoch()).count(),
        std::chrono::duration<double>(Duration{last_round_.load(std::memory_order_relaxed)})
            .count()};
}

void Persistence::run() {
    sigset_t all; // signals are handled by the control thread
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock{mutex_};
    SteadyTime next = net::read_steady_clock() + between_writes;
    for (;;) {
        woken_.wait_until(
            lock, next, [this] { return stopping_ || leases_recorded_ || changes_made_; });
        if (stopping_)
            return;
        leases_recorded_ = false;
        const bool changed = std::exchange(changes_made_, false);
        lock.unlock();
        write_leases();
        // Rounds are started by the clock, not by a timeout of the wait above: a stream of new
        // leases may end every wait early.
        if (const SteadyTime now = net::read_steady_clock(); changed || now >= next) {
            write(false);
            last_round_.store((net::read_steady_clock() - now).count(), std::memory_order_relaxed);
            next = now + between_writes;
        }
        lock.lock();
    }
}

void Persistence::write_leases() {
    leases_.write(file_.is_open() && introduced_);
}

// Writes the grants, renewals and ends of leases that were recorded meanwhile. Called between two
// transactions of a round of counters, so that they need not wait for the whole round.
void Persistence::write_leases_meanwhile() {
    {
        const std::lock_guard lock{mutex_};
        if (!std::exchange(leases_recorded_, false))
            return;
    }
    write_leases();
}

void Persistence::write(bool last) {
    const std::uint64_t version = changes_.version();
    try_to_write(last);
    end_attempt(version);
}

void Persistence::try_to_write(bool last) {
    try {
        // A second attempt follows if the first found the file broken and moved it aside.
        for (int attempt = 0; attempt < 2; ++attempt) {
            if (!file_.is_open())
                reopen(last);
            if (!file_.is_open() || write_changes(last) || file_.is_open())
                return;
        }
    } catch (const std::exception& exception) {
        // The erasures of the round may be lost. The next one opens the file and replaces all rows.
        file_.close();
        leases_.settle_introduced(false);
        changes_.settle(false);
        file_.note_failure(exception.what());
    }
}

// Opens the file again and marks all its rows to be replaced, because the memory has newer state.
void Persistence::reopen(bool last) {
    if (std::optional<StateFile::Contents> contents = file_.reopen(last))
        replace_rows(std::move(*contents));
}

void Persistence::replace_rows(StateFile::Contents contents) {
    changes_.begin_anew(std::move(contents.changes));
    counters_.begin_anew(contents.counters);
    leases_.begin_anew(contents.leases);
    anew_ = true;
    introduced_ = false;
}

bool Persistence::write_changes(bool last) {
    StateBatch batch;
    if (!introduced_)
        introduce(batch);
    const SavedClock now = SavedClock::read();
    // Leases are written between the transactions of a round, and operators' changes with them, so
    // that clients do not wait for its end. That write may fail and close the file.
    const auto flush_and_go_on = [&] {
        changes_.add_to(batch, now);
        if (!flush(batch))
            return false;
        write_leases_meanwhile();
        return file_.is_open();
    };
    if (!counters_.add_changes(last, now, batch, flush_and_go_on))
        return false;
    note_known(now, batch);
    changes_.add_to(batch, now);
    counters_.sweep_unclaimed(now, batch);
    if (last)
        batch.put(StateFile::own, ended, "1");
    return flush(batch);
}

void Persistence::introduce(StateBatch& batch) {
    const KeyHasher::Key& key = registry_.hasher().key();
    batch.put(StateFile::own, hash_key, {key.begin(), key.end()});
    batch.put(StateFile::own, boot, started_.boot);
    if (!holders_known_ && !grace_over_) {
        batch.put(StateFile::own, unknown, "1");
        unknown_written_ = true;
    }
    leases_.introduce(batch.changes);
    batch.erase(StateFile::own, ended);
    if (anew_)
        counters_.add_unclaimed(batch);
}

// Erases the mark "lock holders unknown" from the file once the time of holders_known_from() is
// reached.
void Persistence::note_known(const SavedClock& now, StateBatch& batch) {
    if (!unknown_written_)
        return;
    const std::lock_guard lock{mutex_};
    if (now.at.steady < known_from_)
        return;
    batch.erase(StateFile::own, unknown);
    unknown_written_ = false;
    grace_over_ = true;
}

bool Persistence::flush(StateBatch& batch) {
    if (!counters_.has_stale_rows() && batch.changes.empty()) {
        batch.taken.clear(); // the changed pages have no rows in the file and need none
        counters_.settle_written();
        return true;
    }
    std::vector<state::Change> changes = counters_.stale_rows();
    std::move(batch.changes.begin(), batch.changes.end(), std::back_inserter(changes));
    batch.changes.clear();
    batch.bytes = 0;
    const auto done = file_.write(changes);
    leases_.settle_introduced(done.has_value());
    changes_.settle(done.has_value());
    if (done)
        tell_of_changes(false);
    if (!done) {
        counters_.settle_failed(std::move(changes));
        file_.note_failed(done.error());
        return false;
    }
    counters_.settle_written();
    batch.taken.clear();
    introduced_ = true;
    anew_ = false;
    file_.note_written();
    return true;
}

} // namespace stint::runtime
