// A store's calls, and the wants that wait for them.
#include "stores/store_loop.hpp"
#include "stores/store_turn.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::stores {

using namespace std::chrono_literals;

namespace {

// Returns a result of the script as the pure protocol takes it.
shared::Reply reply_of(const redis::Value& value) {
    shared::Reply reply;
    reply.reserve(value.items.size());
    for (const redis::Value& each : value.items)
        if (each.is_integer())
            reply.emplace_back(each.integer);
        else
            reply.emplace_back(each.text);
    return reply;
}

} // namespace

void StoreLoop::send(shared::Call call) {
    shared_.counters.calls.fetch_add(1, std::memory_order_relaxed);
    std::vector<std::string_view> keys{shared_.names.registry()};
    if (!call.counter.empty())
        keys.emplace_back(call.counter);
    const std::vector<std::string_view> arguments{call.arguments.begin(), call.arguments.end()};
    client_->call(keys, arguments, [this, number = call.number](const redis::Reply& reply) {
        turn([&](const Now& now) { replied(number, reply, now); });
    });
}

void StoreLoop::replied(std::uint64_t call, const redis::Reply& reply, const Now& now) {
    const bool of_pauses = PauseTeller::owns(call);
    if (reply && leave_by_)
        leave_by_ = std::min(last_leave_by_, now.steady + longest_silence_);
    if (reply && reply->is_list() && of_pauses)
        return pauses_.answered(reply_of(*reply), now.steady);
    if (reply && reply->is_list())
        return shares_.answered(call, reply_of(*reply), now);
    note_failed_call(reply ? "the script's result is not a list" : reply.error().text, now.steady);
    if (of_pauses)
        pauses_.failed(now.steady);
    else
        shares_.failed(call, now);
}

void StoreLoop::note_failed_call(const std::string& why, SteadyTime now) {
    shared_.counters.failed_calls.fetch_add(1, std::memory_order_relaxed);
    last_failure_ = why;
    last_failure_at_ = now;
    if (client_->up() && refusals_.pass(now))
        spdlog::warn("store {}: a call has failed: {}", shared_.settings.name, why);
}

void StoreLoop::trust() noexcept {
    turn([this](const Now& now) {
        if (!usable(now.steady) || !shares_.trust(now))
            trusted(false);
    });
}

void StoreLoop::trusted(bool taken) {
    const std::string& name = shared_.settings.name;
    if (taken)
        spdlog::warn(
            "store {}: it trusts an operator that no gateway holds a share that it does not know "
            "of",
            name);
    else
        spdlog::warn("store {}: could not be told to trust; it gives what it gave before", name);
}

void StoreLoop::tell_pauses() noexcept {
    turn([](const Now&) {}); // go_on() tells them
}

void StoreLoop::take_wants() noexcept {
    const std::vector<Want> wants = shared_.inbox.take();
    turn([&](const Now& now) {
        for (const Want& want : wants)
            ask(want, now);
    });
}

void StoreLoop::ask(const Want& want, const Now& now) noexcept {
    shared::Wanted outcome = shared::Wanted::failed;
    try {
        if (usable(now.steady) && !leave_by_)
            outcome = shares_.want(want.counter, want.of, want.cost, now);
        if (outcome == shared::Wanted::asked)
            return waiting_.add(want.counter, want.waiter);
    } catch (const std::bad_alloc&) {
        outcome = shared::Wanted::failed;
    }
    const bool told = outcome == shared::Wanted::told;
    waiting_.answer(want.waiter, told ? limits::ShareAnswer::told : limits::ShareAnswer::failed);
}

// Asks for locks whose counters a new session does not know: requests that have waited since the
// former session do not ask again; and the store has to hear of leases from before a lock was
// shared. Returns when to call it next.
SteadyTime StoreLoop::ask_for_locks(const Now& now) {
    if (now.steady < next_look_at_locks_)
        return next_look_at_locks_;
    const std::vector<limits::LimitPtr> locks = shared_.limits.locks();
    for (const limits::LimitPtr& lock : locks) {
        const limits::LeaseCover& leases = lock->share_policy().leases();
        if (lock->waiting() == 0 && !leases.has_report())
            continue;
        const std::string name = shared_.names.counter(lock->identity(), {});
        const shared::SharedCounter of{.limit = lock, .numbers = {leases.max(), 0}};
        if (leases.has_report() || !shares_.knows(name))
            (void)shares_.want(name, of, 1, now);
    }
    next_look_at_locks_ = now.steady + (locks.empty() ? 1s : 100ms);
    return next_look_at_locks_;
}

void StoreLoop::answered(const std::string& counter) {
    waiting_.answer(counter, limits::ShareAnswer::told);
}

void StoreLoop::failed(const std::string& counter) {
    waiting_.answer(counter, limits::ShareAnswer::failed);
}

} // namespace stint::stores
