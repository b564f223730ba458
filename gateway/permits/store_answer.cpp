#include "permits/store_answer.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace stint::permits {
namespace {

// Until a store that has failed is asked again for fencing numbers.
constexpr Duration pause_after_failure{std::chrono::milliseconds{20}};

limits::ShareWanted wanted(const locks::Lock& lock) noexcept {
    return {.limit = lock.limit(), .key_text = {}, .numbers = {lock.max(), 0}};
}

} // namespace

void ask_store(limits::ShareRequests& of, const locks::Lock& lock) noexcept try {
    of.ask(*lock.store()->terms.store, wanted(lock));
} catch (const std::bad_alloc&) { // the next request asks
}

void StoreAnswer::ask(limits::ShareRequests& of, const locks::Lock& lock, SteadyTime until) {
    begin(of, 1);
    asked_ = true;
    told_ = false;
    wakeup_.shares_asked(until);
    Request::ask(*lock.store()->terms.store, wanted(lock));
}

void StoreAnswer::ask_for(
    limits::Permit slot,
    limits::ShareRequests& of,
    const locks::Lock& lock,
    const Now& now,
    SteadyTime until) {
    slot_ = std::move(slot);
    if (!failed())
        return ask(of, lock, until);
    asked_ = false;
    wakeup_.shares_asked(std::min(until, now.steady + pause_after_failure));
}

limits::Permit StoreAnswer::end() noexcept {
    cancel();
    wakeup_.end();
    return std::move(slot_);
}

void StoreAnswer::answered(limits::ShareAnswer answer) noexcept {
    told_ = answer == limits::ShareAnswer::told;
    wakeup_.shares_answered();
}

} // namespace stint::permits
