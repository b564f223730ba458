#include "locks/lock_manager.hpp"

#include "base/lock_names.hpp"
#include "locks/leases.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

namespace stint::locks {
namespace {

// Returns the fencing number that no grant before `time` has reached. The store of a shared lock
// counts like this, too: per_ms in shared/store_script_shares.cpp.
std::uint64_t fence_at(WallTime time) noexcept {
    constexpr std::uint64_t per_ms = 2048;
    const auto since =
        std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0)) * per_ms;
}

bool same(const LockStorePtr& one, const LockStorePtr& other) noexcept {
    if (one == nullptr || other == nullptr)
        return one == other;
    return one->name == other->name && one->terms.store == other->terms.store;
}

} // namespace

Duration longest_lease(const Lock& lock, const Now& now) noexcept {
    if (lock.store() == nullptr)
        return Duration::max();
    limits::SharePolicy& policy = lock.limit()->share_policy();
    if (policy.ended(now.steady) || !policy.leases().covers(lock.limit()->in_flight()))
        return Duration::zero();
    return policy.leases().longest_lease();
}

Counts& Counts::operator+=(const Counts& other) noexcept {
    granted += other.granted;
    refused += other.refused;
    released += other.released;
    expired += other.expired;
    forced += other.forced;
    disconnected += other.disconnected;
    return *this;
}

Waiting::~Waiting() {
    if (book_ != nullptr)
        book_->end_wait(*this);
}

LockManager::LockManager(
    limits::Registry& registry, limits::WakeupScheduler& scheduler, WallTime started)
    : registry_{registry}, scheduler_{scheduler}, fence_{fence_at(started)} {}

LockManager::~LockManager() {
    by_expiry_.clear();
    for (auto& [name, lock] : locks_)
        lock->leases_.clear();
    for (const LockPtr& lock : replaced_)
        lock->leases_.clear();
}

void LockManager::configure(
    const std::vector<Declared>& declared,
    std::uint64_t dynamic,
    std::uint64_t max_waiting,
    const Now& now) {
    std::vector<limits::Permit> freed; // without the mutex: that wakes waiters
    const std::lock_guard lock{mutex_};
    most_dynamic_ = dynamic;
    dynamic_max_waiting_ = max_waiting;
    for (auto& [name, known] : locks_) {
        known->declared_ = false;
        known->max_waiting_.store(max_waiting, std::memory_order_relaxed);
    }
    for (const Declared& each : declared) {
        auto found = locks_.find(each.name);
        if (found == locks_.end())
            found = locks_.emplace(each.name, make(each, fence_, now)).first;
        else if (!same(found->second->store_, each.store))
            found->second = replace(found->second, each, now, freed);
        Lock& known = *found->second;
        known.declared_ = true;
        known.max_.store(each.max, std::memory_order_relaxed);
        known.max_waiting_.store(each.max_waiting, std::memory_order_relaxed);
    }
    for (auto& [name, known] : locks_)
        if (!known->declared_ && known->store_ != nullptr)
            known = replace(known, {name, known->max(), max_waiting}, now, freed);
    forget_unused();
}

// Makes the lock that takes the place of one with another store. Those who wait for the former one
// turn to the new one when they are woken (Lock::replaced()).
LockPtr LockManager::replace(
    const LockPtr& former, const Declared& by, const Now& now, std::vector<limits::Permit>& freed) {
    limits::LeaseCover& leases = former->limit_->share_policy().leases();
    replaced_.reserve(replaced_.size() + 1); // without memory nothing is changed
    // Other gateways may have been given later numbers since, and until the lock is granted here.
    if (former->store_ != nullptr)
        fence_ = std::max({fence_, leases.highest_fence(), fence_at(now.wall + leases.span())});
    LockPtr made = make(by, fence_, now);
    const bool stays = by.store != nullptr && former->store_ != nullptr &&
                       by.store->place == former->store_->place;
    if (former->store_ == nullptr || former->limit_ == made->limit_)
        move_leases(*former, made, now, freed);
    if (former->store_ != nullptr && !stays) {
        former->ends_ = now.steady + leases.span();
        reserve_for_previous_holders(made, former->ends_, now);
    }
    former->replaced_.store(true, std::memory_order_release);
    std::erase_if(replaced_, [](const LockPtr& each) { return each->leases_.empty(); });
    replaced_.push_back(former);
    return made;
}

// Each lease takes a slot of the other lock, whether or not that has one free. They are not
// persisted from now on.
void LockManager::move_leases(
    Lock& from, const LockPtr& to, const Now& now, std::vector<limits::Permit>& freed) {
    const bool same_slots = from.limit_ == to->limit_;
    freed.reserve(freed.size() + from.leases_.size());
    while (!from.leases_.empty()) {
        Lease& lease = from.leases_.front();
        if (!same_slots) {
            limits::Charge slots = to->charge();
            slots.cost = lease.slots;
            slots.quota = any_number;
            slots.ignore_share = true;
            limits::Permit taken = std::move(limits::admit({&slots, 1}, now).permit);
            freed.push_back(std::move(lease.permit));
            lease.permit = std::move(taken);
        }
        if (recorded_ && to->store_ != nullptr && (lease.kept_version > 0 || lease.unwritten > 0))
            record_end(lease.id);
        from.leases_.pop_front();
        to->leases_.push_back(lease);
        to->held_ += lease.slots;
        lease.lock = to;
    }
    from.held_ = 0;
    to->counts_ += from.counts_;
    from.counts_ = {};
    if (!same_slots)
        to->limit_->share_policy().leases().report(to->held_);
}

std::variant<LockPtr, LockManager::LockError>
LockManager::obtain(std::string_view name, std::optional<std::uint64_t> max, const Now& now) {
    const std::lock_guard lock{mutex_};
    if (leases_.size() >= most_leases)
        return LockError{Failure::too_many};
    if (records_.size() >= most_records)
        return LockError{Failure::behind};
    const auto found = locks_.find(name);
    const bool unused =
        found != locks_.end() && !found->second->declared_ && !in_use(found->second);
    if (most_dynamic_ == 0 && (unused || found == locks_.end()))
        return LockError{Failure::unknown}; // a reload may have forbidden undeclared locks
    if (found != locks_.end()) {
        Lock& known = *found->second;
        if (!max || *max == known.max())
            return found->second;
        if (!unused)
            return LockError{Failure::different, known.max()};
        known.max_.store(*max, std::memory_order_relaxed); // no caller uses the old max
        return found->second;
    }
    if (dynamic_ >= most_dynamic_ && !make_room_for_lock(now))
        return LockError{Failure::too_many};
    const LockPtr made = make({.name = std::string{name}, .max = max.value_or(1)}, fence_, now);
    made->max_waiting_.store(dynamic_max_waiting_, std::memory_order_relaxed);
    locks_.emplace(made->name(), made);
    ++dynamic_;
    return made;
}

// Makes a lock. fence: any lower fencing number is stale.
LockPtr LockManager::make(const Declared& declared, std::uint64_t fence, const Now& now) {
    const limits::LimitSpec spec{
        .identity =
            {.name = std::string{lock_prefix}.append(declared.name),
             .key = {},
             .algorithm = limits::Algorithm::concurrency,
             .store = declared.store != nullptr ? declared.store->name : std::string{}},
        .quota = declared.max};
    auto made =
        std::make_shared<Lock>(declared.name, registry_.obtain(spec), declared.max, declared.store);
    made->limit_->raise_fence(fence);
    if (declared.store == nullptr) // else the store knows of other holders
        reserve_for_previous_holders(made, closed_until_, now);
    return made;
}

// Until the end of start_up_grace, fills a lock with one placeholder lease for all of its slots,
// because its holders from before the start are unknown; so after a reload, if other gateways may
// hold it. Restored leases exist beside the placeholder: some may have been released, and their
// slots granted again, before the process ended.
void LockManager::reserve_for_previous_holders(
    const LockPtr& lock, SteadyTime until, const Now& now) {
    if (until <= now.steady)
        return;
    auto former = std::make_unique<Lease>();
    former->former = true;
    former->slots = lock->max();
    former->owner = "(before the start)";
    former->fence = fence_;
    former->levels.emplace_back();
    limits::Charge all = lock->charge();
    all.cost = former->slots;
    all.quota = any_number;
    all.ignore_share = true;
    former->permit = std::move(limits::admit({&all, 1}, now).permit);
    lock->limit_->keep_full_until(until, former->slots);
    insert(std::move(former), lock, now, until);
}

void LockManager::keep_closed_until(SteadyTime end, const Now& now) {
    const std::lock_guard lock{mutex_};
    closed_until_ = end;
    for (const auto& [name, known] : locks_)
        if (known->store_ == nullptr)
            reserve_for_previous_holders(known, end, now);
}

// Tries to make room for another undeclared lock. Limited to one call in 10 ms, because it scans
// all locks.
bool LockManager::make_room_for_lock(const Now& now) {
    if (now.steady < next_sweep_)
        return false;
    next_sweep_ = now.steady + std::chrono::milliseconds{10};
    forget_unused();
    return dynamic_ < most_dynamic_;
}

// Forgets locks that are neither declared nor in use.
void LockManager::forget_unused() {
    std::erase_if(locks_, [this](const auto& entry) {
        const auto& [name, lock] = entry;
        if (lock->declared_ || in_use(lock))
            return false;
        dynamic_counts_ += lock->counts_;
        return true;
    });
    dynamic_ = static_cast<std::size_t>(
        std::ranges::count_if(locks_, [](const auto& entry) { return !entry.second->declared_; }));
}

// True if the lock has holders, or a request is asking for it.
bool LockManager::in_use(const LockPtr& lock) noexcept {
    return lock.use_count() > 1;
}

Lease& LockManager::insert(
    std::unique_ptr<Lease> made, const LockPtr& lock, const Now& now, SteadyTime expires) {
    std::array<char, sizeof last_number_> number;
    std::memcpy(number.data(), &++last_number_, number.size());
    if (made->id == Hash128{})
        made->id = id_hasher_({number.data(), number.size()});
    made->lock = lock;
    made->granted = now.steady;
    Lease& lease = *leases_.emplace(made->id, std::move(made)).first->second;
    lock->leases_.push_back(lease);
    lock->held_ += lease.slots;
    lease.expires = expires;
    file(lease);
    return lease;
}

void LockManager::file(Lease& lease) noexcept {
    by_expiry_.insert(lease);
    if (lease.expires >= announced_)
        return;
    announced_ = lease.expires;
    scheduler_.schedule(announced_);
}

// Takes the lease out of all lists and records its end. The caller frees the slot, without the
// mutex: free_slot().
std::unique_ptr<Lease> LockManager::take_out(Lease& lease, EndReason how) noexcept {
    Lock& lock = *lease.lock;
    lock.leases_.erase(lock.leases_.iterator_to(lease));
    lock.held_ -= lease.slots;
    by_expiry_.erase(by_expiry_.iterator_to(lease));
    for (const Level& level : lease.levels)
        forget(level.once, lease);
    forget(lease.reentrant, lease);
    lock.counts_.count_end(how);
    remember(lease.id, how);
    const bool in_the_file = lease.kept_version > 0 || lease.unwritten > 0;
    if (recorded_ && in_the_file)
        record_end(lease.id);
    auto taken = leases_.extract(lease.id);
    return std::move(taken.mapped());
}

// Forgets that the hash belongs to the lease. No effect if the hash belongs to another lease by
// now.
void LockManager::forget(Hash128 hash, const Lease& lease) noexcept {
    if (const auto found = known_.find(hash); found != known_.end() && found->second == &lease)
        known_.erase(found);
}

void Counts::count_end(EndReason how) noexcept {
    switch (how) {
    case EndReason::released:
        ++released;
        break;
    case EndReason::expired:
        ++expired;
        break;
    case EndReason::forced:
        ++forced;
        break;
    case EndReason::disconnected:
        ++disconnected;
        break;
    case EndReason::not_persisted:
        --granted; // no client was answered
        break;
    }
}

void LockManager::remember(Hash128 id, EndReason how) noexcept try {
    ended_order_.push_back(id);
    ended_.emplace(id, how);
    if (ended_order_.size() <= remembered)
        return;
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
} catch (const std::exception&) { // without memory, a repeated release finds no lease
}

Lease* LockManager::find_active(Hash128 id, const Now& now) const noexcept {
    const auto found = leases_.find(id);
    if (found == leases_.end() || found->second->former || found->second->expires <= now.steady)
        return nullptr;
    return found->second.get();
}

Lease* LockManager::find_active_of(std::string_view lock, Hash128 id, const Now& now) noexcept {
    Lease* const lease = find_active(id, now);
    return lease != nullptr && lease->lock->name() == lock ? lease : nullptr;
}

SteadyTime LockManager::expire(const Now& now) noexcept {
    for (;;) {
        std::unique_ptr<Lease> ended;
        {
            const std::lock_guard lock{mutex_};
            const auto first = by_expiry_.begin();
            announced_ = first == by_expiry_.end() ? SteadyTime::max() : first->expires;
            if (announced_ > now.steady)
                return announced_;
            ended = take_out(*first, EndReason::expired);
        }
        free_slot(std::move(ended), now);
    }
}

void free_slot(std::unique_ptr<Lease> ended, const Now& now) noexcept {
    if (ended != nullptr && !ended->former) // a placeholder's hold time is not known
        ended->permit.release(now);
}

} // namespace stint::locks
