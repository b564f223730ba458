#include "permits/lock_operation.hpp"

#include "net/clock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace stint::permits {
namespace {

// The one flow of all requests for locks: a queue with a single flow is first come, first served
// (limits/queue/fair_queue.hpp).
constexpr Hash128 holders{0, 1};

constexpr Duration try_again{std::chrono::seconds{1}};

} // namespace

LockOperation::LockOperation(
    proxy::Context& context,
    Shared& shared,
    PersistenceWaits& persistence_waits,
    LeaseOwners& owners)
    : context_{context}, shared_{shared}, writes_{persistence_waits}, owners_{owners},
      now_{net::read_clocks()}, begun_{now_.steady}, store_answer_{context.executor} {}

LockOperation::~LockOperation() {
    if (untold_)
        shared_.locks.withdraw(name_, grant(), net::read_clocks());
}

LockOperation::Step
LockOperation::begin(std::string_view name, const LockRequest& ask, locks::LeaseBinding binding) {
    name_ = name;
    binding_ = binding;
    const bool waited = owners_.waiting_since != SteadyTime{};
    wait_until_ = (waited ? owners_.waiting_since : now_.steady) + ask.wait;
    if (!find_lock(name, ask.max))
        return Step::answered;
    set_wish(ask);
    return enter();
}

// Takes a slot, waits for one, or refuses.
LockOperation::Step LockOperation::enter() {
    if (!shared_.grants_leases)
        return refuse_for_replacement();
    if (const auto active = shared_.locks.find_granted(wish_, now_)) {
        have(*active);
        return keep();
    }
    const Duration wait = std::max(wait_until_ - now_.steady, Duration::zero());
    if (lock_->limit()->awaited()) // a new request never overtakes a waiter
        return line_up(wait);
    const limits::Charge slot = lock_->charge();
    limits::Decision decision = limits::try_admit({&slot, 1}, now_);
    if (decision.allowed())
        return take(std::move(decision.permit));
    if (wait > Duration::zero())
        return line_up(wait);
    if (decision.ask_store == 0 || store_answer_.asked() || lock_->store() == nullptr)
        return refuse(decision.retry_after);
    store_answer_.ask(context_.shares, *lock_, now_.steady + lock_->store()->terms.timeout);
    return Step::waits;
}

bool LockOperation::find_lock(std::string_view name, std::optional<std::uint64_t> max) {
    auto found = shared_.locks.obtain(name, max, now_);
    if (auto* const lock = std::get_if<locks::LockPtr>(&found)) {
        lock_ = std::move(*lock);
        return true;
    }
    const auto& missed = std::get<locks::LockManager::LockError>(found);
    switch (missed.why) {
    case locks::LockManager::Failure::unknown:
        fail(404, "there is no lock of this name, and callers may not make one: see dynamic_locks");
        break;
    case locks::LockManager::Failure::different:
        fail(422, "max is " + std::to_string(missed.max) + " for this lock");
        max_ = missed.max;
        break;
    case locks::LockManager::Failure::too_many:
        fail(503, "as many locks as dynamic_locks allows are in use, or a million leases");
        retry_after_ = try_again;
        break;
    case locks::LockManager::Failure::behind:
        fail(503, "leases cannot be written to the state file as fast as they are asked for");
        retry_after_ = try_again;
        break;
    }
    return false;
}

void LockOperation::set_wish(const LockRequest& ask) {
    wish_.owner = ask.owner;
    if (!ask.idempotency_key.empty())
        wish_.once = shared_.locks.hash_once(name_, ask.owner, ask.idempotency_key);
    if (ask.reentrant)
        wish_.reentrant = shared_.locks.hash_owner(name_, ask.owner);
    wish_.ttl = ask.ttl;
    wish_.binding = binding_;
    wish_.connection_id =
        binding_ == locks::LeaseBinding::lease ? 0 : owners_.of(binding_).number();
}

LockOperation::Step LockOperation::line_up(Duration wait) {
    if (lacks_store())
        return refuse_for_store();
    queued_ = std::make_unique<proxy::QueuedRequest>(context_.wakeups, owners_.waits);
    queued_->charges.push_back(lock_->charge());
    limits::WaitTerms& terms = queued_->terms.emplace_back();
    terms.waits = true;
    terms.max_wait = wait;
    terms.max_waiting = lock_->max_waiting();
    terms.flow = holders;
    if (queued_->queue().enter(*queued_, now_) == limits::AdmissionQueue::Entered::waiting) {
        shared_.locks.begin_wait(lock_, waiting_, wish_.owner, now_);
        if (lock_->store() != nullptr)
            ask_store(context_.shares, *lock_);
        return Step::waits;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    if (!queued->decision.allowed())
        return refuse(queued->decision.retry_after);
    return take(std::move(queued->decision.permit));
}

// Grants the lease for a slot. If a reload has replaced the lock, the request turns to the new one.
LockOperation::Step LockOperation::take(limits::Permit permit) {
    if (!shared_.grants_leases)
        return refuse_for_replacement();
    if (lock_->replaced()) {
        permit = {}; // the new lock may have the same slots
        return turn_to_new_lock();
    }
    if (lock_->store() != nullptr) {
        // The session may have ended since the slot was taken.
        if (locks::longest_lease(*lock_, now_) <= Duration::zero())
            return refuse_for_store();
        limits::LeaseCover& leases = lock_->limit()->share_policy().leases();
        const auto fence = leases.next_fence();
        if (leases.take_turn_to_ask())
            ask_store(context_.shares, *lock_);
        if (!fence)
            return await_fence(std::move(permit));
        wish_.fence = *fence;
    }
    const auto granted = shared_.locks.grant(lock_, wish_, std::move(permit), now_);
    if (!granted)
        return turn_to_new_lock();
    have(*granted);
    return keep();
}

LockOperation::Step LockOperation::turn_to_new_lock() {
    wish_.fence = 0;
    store_answer_.forget();
    return find_lock(name_, std::nullopt) ? enter() : Step::answered;
}

// Keeps the slot while the store is asked for fencing numbers.
LockOperation::Step LockOperation::await_fence(limits::Permit permit) {
    const SteadyTime answer_by = begun_ + lock_->store()->terms.timeout;
    const SteadyTime until = std::max(wait_until_, answer_by);
    if (now_.steady >= until)
        return refuse_for_store();
    store_answer_.ask_for(std::move(permit), context_.shares, *lock_, now_, until);
    return Step::waits;
}

LockOperation::Step LockOperation::settle_asked() {
    limits::Permit slot = store_answer_.end();
    now_ = net::read_clocks();
    return slot.holds_slots() ? take(std::move(slot)) : enter();
}

// True if it is unknown whether the lock is held elsewhere: the store cannot be asked or has not
// answered, and this gateway has no share.
bool LockOperation::lacks_store() const noexcept {
    if (lock_->store() == nullptr)
        return false;
    const bool answers = lock_->limit()->share_policy().asking() && !store_answer_.failed();
    const limits::Charge slot = lock_->charge();
    return !answers && limits::numbers_of(slot, now_).quota == 0;
}

LockOperation::Step LockOperation::refuse_for_store() {
    shared_.locks.count_refusal(*lock_);
    fail(
        503, "the store " + lock_->store()->name +
                 ", in which gateways share the lock, does not answer: it may be held elsewhere");
    retry_after_ = try_again;
    return Step::answered;
}

// Leases are another process's now, which knows those that this one has granted.
LockOperation::Step LockOperation::refuse_for_replacement() {
    fail(503, "another process of the gateway serves now: ask again, on a new connection");
    retry_after_ = try_again;
    return Step::answered;
}

// Stores the grant. The destructor withdraws a new grant until its reply is written. A lease bound
// to a connection or stream is added to theirs.
void LockOperation::have(const locks::Grant& grant) {
    grant_ = grant;
    untold_ = !grant.replayed;
    if (binding_ != locks::LeaseBinding::lease)
        owners_.of(binding_).add(grant.id);
}

LockOperation::Step LockOperation::keep() {
    const locks::LockManager::Durability kept = shared_.locks.kept(grant_);
    if (kept == locks::LockManager::Durability::not_yet) {
        write_.emplace(writes_, grant_);
        return Step::waits;
    }
    end_write(kept);
    return Step::answered;
}

void LockOperation::end_write(locks::LockManager::Durability kept) {
    if (kept == locks::LockManager::Durability::yes)
        return;
    fail(503, "what was granted cannot be written to the state file now");
    retry_after_ = try_again;
}

LockOperation::Step LockOperation::renew(
    std::string_view name,
    Hash128 lease,
    std::optional<Duration> ttl,
    locks::LeaseBinding binding) {
    name_ = name;
    binding_ = binding;
    status_ = renewed;
    if (!shared_.grants_leases)
        return refuse_for_replacement();
    const locks::LockManager::Renewal renewal{
        .ttl = ttl,
        .connection_id =
            binding == locks::LeaseBinding::connection ? owners_.connection.number() : 0};
    const auto grant = shared_.locks.renew(name, lease, renewal, now_);
    if (!grant) {
        fail(410, "this lease has ended, or never was; what it held may be another's by now");
        return Step::answered;
    }
    if (!grant->renewed) {
        fail(
            503, "the lease cannot be renewed now, and ends as it would have: the store in which "
                 "gateways share the lock does not answer, or does not know of it");
        retry_after_ = try_again;
        return Step::answered;
    }
    grant_ = *grant;
    if (binding == locks::LeaseBinding::connection)
        owners_.connection.add(grant->id);
    return keep();
}

net::Task<> LockOperation::wait() {
    if (queued_)
        co_await queued_->wait();
    else if (store_answer_.waits())
        co_await store_answer_.until_answered();
    else if (write_) // otherwise the reply is ready, and streams
        co_await write_->until_written();
}

void LockOperation::give_up() noexcept {
    if (queued_)
        context_.wakeups.give_up(*queued_);
    else if (store_answer_.waits())
        store_answer_.give_up();
    else if (write_)
        write_->give_up();
}

void LockOperation::on_replaced() noexcept {
    if (!is_decided())
        give_up();
}

bool LockOperation::settle() {
    if (store_answer_.waits())
        return settle_asked() == Step::answered;
    if (!queued_) {
        write_.reset();
        end_write(shared_.locks.kept(grant_));
        return true;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    shared_.locks.end_wait(waiting_);
    now_ = net::read_clocks();
    if (queued->decision.allowed() && shared_.grants_leases) {
        context_.counters.lock_waits.time.observe(now_.steady - begun_);
        return take(std::move(queued->decision.permit)) == Step::answered;
    }
    ++context_.counters.lock_waits.refused;
    return refuse(queued->decision.retry_after) == Step::answered;
}

// Refuses with 409, unless a repetition of this request has been granted meanwhile: then replies
// with that grant. retry_after: the limit's estimate. An earlier lease expiry replaces it, and so
// does the end of start_up_grace.
LockOperation::Step LockOperation::refuse(Duration retry_after) {
    if (!shared_.grants_leases)
        return refuse_for_replacement();
    if (const auto active = shared_.locks.find_granted(wish_, now_)) {
        have(*active);
        return keep();
    }
    if (lacks_store())
        return refuse_for_store();
    shared_.locks.count_refusal(*lock_);
    status_ = 409;
    const locks::LockManager::Busy busy = shared_.locks.busy(*lock_, now_);
    held_ = busy.held;
    closed_ = lock_->limit()->full_for(lock_->max(), now_.steady);
    retry_after_ = closed_ > Duration::zero()
                       ? closed_
                       : std::min(retry_after, busy.ends_in.value_or(retry_after));
    return Step::answered;
}

void LockOperation::fail(int status, std::string detail) {
    status_ = status;
    detail_ = std::move(detail);
}

} // namespace stint::permits
