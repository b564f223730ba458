#include "runtime/persistence.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <utility>

namespace stint::runtime {
namespace {

using state::Failure;

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
    const config::State& settings, limits::Registry& registry, locks::LockManager& locks)
    : file_{settings.file}, registry_{registry}, locks_{locks}, started_{SavedClock::read()},
      closed_{settings.closed_on_start} {
    if (!file_.empty())
        load();
    if (closed_)
        spdlog::warn(
            "state: the counts of the last run are not known to be complete: each limit is "
            "closed until one window of it has passed");
    registry_.on_made([this](limits::Limit& limit) { claim(limit); });
    if (file_.empty())
        return;
    locks_.record([this] {
        {
            const std::lock_guard lock{mutex_};
            leases_recorded_ = true;
        }
        woken_.notify_one();
    });
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
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    woken_.notify_one();
    thread_.join();
    locks_.record({});
    write_leases();
    write(true); // and all of them again, where that begins a new file
    store_.reset();
}

void Persistence::load() {
    const std::optional<Contents> contents = open();
    next_open_ = started_.at.steady + between_openings;
    if (!contents)
        return;
    holders_known_ = !contents->in_place_of_another && knows_holders(contents->own);
    if (const auto hasher = hasher_of(value_of(contents->own, hash_key))) {
        registry_.use(*hasher);
        keep_unclaimed(contents->counters);
        restore_leases(*contents);
        closed_ = closed_ && value_of(contents->own, ended) == nullptr;
        spdlog::info("state: {}: counts of {} limits go on", file_.string(), unclaimed_.size());
    } else { // counts under hashes of an unknown key are worthless
        for (const state::Row& row : contents->counters)
            stale_.push_back(row.key);
        for (const state::Row& row : contents->leases)
            stale_leases_.push_back(row.key);
        spdlog::info("state: {} is new: counts begin anew", file_.string());
    }
    write(false); // from now on the file does not say any more that its run has ended
}

// The system may have come to its end without what was written last: then not. A new file knows
// that there are none.
bool Persistence::knows_holders(const std::vector<state::Row>& rows) const {
    if (value_of(rows, unknown) != nullptr)
        return false;
    if (value_of(rows, hash_key) == nullptr || value_of(rows, ended) != nullptr)
        return true;
    const std::string* const written_in = value_of(rows, boot);
    return written_in != nullptr && !written_in->empty() && *written_in == started_.boot;
}

// The file and what it holds; nothing where it cannot be had. One that is broken is moved aside.
std::optional<Persistence::Contents> Persistence::open() {
    for (bool moved = false;; moved = true) {
        Contents contents;
        const std::optional<Failure> failure = try_open(contents);
        if (!failure) {
            contents.in_place_of_another = moved;
            return contents;
        }
        store_.reset();
        if (failure->kind == Failure::Kind::broken && !moved) {
            if (move_aside(*failure))
                continue;
        } else {
            note_failure(failure->why);
        }
        return std::nullopt;
    }
}

std::optional<Failure> Persistence::try_open(Contents& contents) {
    auto opened = Store::open(file_);
    if (!opened)
        return std::move(opened).error();
    store_ = std::move(*opened);
    auto stint = store_->rows(own);
    if (!stint)
        return std::move(stint).error();
    auto limits = store_->rows(counters);
    if (!limits)
        return std::move(limits).error();
    auto held = store_->rows(leases);
    if (!held)
        return std::move(held).error();
    contents = {std::move(*stint), std::move(*limits), std::move(*held)};
    return std::nullopt;
}

bool Persistence::move_aside(const Failure& failure) {
    store_.reset();
    const auto moved = state::move_aside(file_, net::read_clocks().wall);
    if (!moved) {
        note_failure(failure.why + ", and it cannot be moved aside: " + moved.error().why);
        return false;
    }
    spdlog::error(
        "state: {}: {}; it is now {}, and counts begin anew", file_.string(), failure.why,
        moved->string());
    return true;
}

void Persistence::keep_unclaimed(const std::vector<state::Row>& rows) {
    for (const state::Row& row : rows) {
        std::optional<LimitRow> read = read_row(row.key, row.value);
        if (read && !read->page.over(started_))
            unclaimed_[read->limit].push_back(std::move(read->page));
        else
            stale_.push_back(row.key);
    }
}

// On whichever thread asks for the limit.
void Persistence::claim(limits::Limit& limit) {
    if (closed_)
        limit.close(started_.at);
    std::vector<KeptPage> kept;
    {
        const std::string key = key_of(limit.identity());
        const std::lock_guard lock{mutex_};
        auto found = unclaimed_.extract(key);
        if (found.empty())
            return;
        kept = std::move(found.mapped());
        for (const KeptPage& page : kept)
            claimed_[key].insert(page.page);
    }
    const SavedClock now = SavedClock::read();
    std::vector<limits::RestoredPage> pages;
    for (const KeptPage& page : kept)
        pages.push_back({page.page, page.bytes, page.written.shift_to(now)});
    if (!limit.restore(pages, now.at))
        spdlog::error("state: limit {}: some of its counts cannot be read", limit.identity().name);
}

void Persistence::holders_known_from(SteadyTime time) {
    const std::lock_guard lock{mutex_};
    known_from_ = time;
}

std::optional<Persistence::Figures> Persistence::collect_metrics() const noexcept {
    if (file_.empty())
        return std::nullopt;
    const WallTime last{Duration{last_write_.load(std::memory_order_relaxed)}};
    return Figures{
        writes_.load(std::memory_order_relaxed), write_failures_.load(std::memory_order_relaxed),
        std::chrono::duration<double>(last.time_since_epoch()).count(),
        std::chrono::duration<double>(Duration{last_round_.load(std::memory_order_relaxed)})
            .count()};
}

void Persistence::run() {
    sigset_t all; // signals belong to the control thread
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock{mutex_};
    SteadyTime next = net::read_steady_clock() + between_writes;
    for (;;) {
        woken_.wait_until(lock, next, [this] { return stopping_ || leases_recorded_; });
        if (stopping_)
            return;
        leases_recorded_ = false;
        lock.unlock();
        write_leases();
        // Rounds go by the clock: leases may keep this loop awake without a pause.
        if (const SteadyTime now = net::read_steady_clock(); now >= next) {
            write(false);
            last_round_.store((net::read_steady_clock() - now).count(), std::memory_order_relaxed);
            next = now + between_writes;
        }
        lock.lock();
    }
}

} // namespace stint::runtime
