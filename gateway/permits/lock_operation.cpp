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
    locks::LockManager& book,
    PersistenceWaits& persistence_waits,
    ConnectionLeases& connection_leases)
    : context_{context}, book_{book}, writes_{persistence_waits},
      connection_leases_{connection_leases}, now_{net::read_clocks()} {}

LockOperation::~LockOperation() {
    if (untold_)
        book_.withdraw(name_, grant(), net::read_clocks());
}

LockOperation::Step
LockOperation::begin(std::string_view name, const LockRequest& ask, locks::LeaseBinding binding) {
    name_ = name;
    binding_ = binding;
    if (!find_lock(name, ask.max))
        return Step::answered;
    set_wish(ask);
    if (const auto active = book_.find_granted(wish_, now_)) {
        have(*active);
        return keep();
    }
    if (lock_->limit()->awaited()) // a new request never overtakes a waiter
        return line_up(ask.wait);
    const limits::Charge slot = lock_->charge();
    limits::Decision decision = limits::try_admit({&slot, 1}, now_);
    if (decision.allowed()) {
        take(std::move(decision.permit));
        return keep();
    }
    if (ask.wait > Duration::zero())
        return line_up(ask.wait);
    return refuse(decision.retry_after);
}

bool LockOperation::find_lock(std::string_view name, std::optional<std::uint64_t> max) {
    auto found = book_.obtain(name, max, now_);
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
        wish_.once = book_.hash_once(name_, ask.owner, ask.idempotency_key);
    if (ask.reentrant)
        wish_.reentrant = book_.hash_owner(name_, ask.owner);
    wish_.ttl = ask.ttl;
    wish_.binding = binding_;
    wish_.connection_id = binding_ == locks::LeaseBinding::lease ? 0 : connection_leases_.number();
}

LockOperation::Step LockOperation::line_up(Duration wait) {
    queued_ = std::make_unique<proxy::QueuedRequest>(context_.wakeups);
    queued_->charges.push_back(lock_->charge());
    limits::WaitTerms& terms = queued_->terms.emplace_back();
    terms.waits = true;
    terms.max_wait = wait;
    terms.max_waiting = lock_->max_waiting();
    terms.flow = holders;
    if (queued_->queue().enter(*queued_, now_) == limits::AdmissionQueue::Entered::waiting) {
        book_.begin_wait(lock_, waiting_, wish_.owner, now_);
        return Step::waits;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    if (!queued->decision.allowed())
        return refuse(queued->decision.retry_after);
    take(std::move(queued->decision.permit));
    return keep();
}

void LockOperation::take(limits::Permit permit) {
    have(book_.grant(lock_, std::move(wish_), std::move(permit), now_));
}

// Stores the grant. The destructor withdraws a new grant until its reply is written. A lease bound
// to a connection or stream is added to the connection's leases.
void LockOperation::have(const locks::Grant& grant) {
    grant_ = grant;
    untold_ = !grant.replayed;
    if (binding_ != locks::LeaseBinding::lease)
        connection_leases_.add(grant.id);
}

LockOperation::Step LockOperation::keep() {
    const locks::LockManager::Durability kept = book_.kept(grant_);
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
    const locks::LockManager::Renewal renewal{
        .ttl = ttl,
        .connection_id =
            binding == locks::LeaseBinding::connection ? connection_leases_.number() : 0};
    const auto grant = book_.renew(name, lease, renewal, now_);
    if (!grant) {
        fail(410, "this lease has ended, or never was; what it held may be another's by now");
        return Step::answered;
    }
    grant_ = *grant;
    if (binding == locks::LeaseBinding::connection)
        connection_leases_.add(grant->id);
    return keep();
}

net::Task<> LockOperation::wait() {
    if (queued_)
        co_await queued_->wait();
    else if (write_) // otherwise the reply is ready, and streams
        co_await write_->until_written();
}

void LockOperation::give_up() noexcept {
    if (queued_)
        context_.wakeups.give_up(*queued_);
    else if (write_)
        write_->give_up();
}

bool LockOperation::settle() {
    if (!queued_) {
        write_.reset();
        end_write(book_.kept(grant_));
        return true;
    }
    const std::unique_ptr<proxy::QueuedRequest> queued = std::move(queued_);
    book_.end_wait(waiting_);
    const SteadyTime asked = now_.steady;
    now_ = net::read_clocks();
    waited_ = now_.steady - asked;
    if (queued->decision.allowed()) {
        context_.counters.lock_waits.time.observe(waited_);
        take(std::move(queued->decision.permit));
        return keep() == Step::answered;
    }
    ++context_.counters.lock_waits.refused;
    return refuse(queued->decision.retry_after) == Step::answered;
}

// Refuses with 409, unless a repetition of this request has been granted meanwhile: then replies
// with that grant. retry_after: the limit's estimate. An earlier lease expiry replaces it, and so
// does the end of start_up_grace.
LockOperation::Step LockOperation::refuse(Duration retry_after) {
    if (const auto active = book_.find_granted(wish_, now_)) {
        have(*active);
        return keep();
    }
    book_.count_refusal(*lock_);
    status_ = 409;
    const locks::LockManager::Busy busy = book_.busy(*lock_, now_);
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
