#include "permits/store_answer.hpp"

#include <new>

namespace stint::permits {
namespace {

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
    wakeup_.shares_asked(until);
    Request::ask(*lock.store()->terms.store, wanted(lock));
}

void StoreAnswer::answered(limits::ShareAnswer answer) noexcept {
    told_ = answer == limits::ShareAnswer::told;
    wakeup_.shares_answered();
}

} // namespace stint::permits
