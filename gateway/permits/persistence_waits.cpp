#include "permits/persistence_waits.hpp"

#include <utility>

namespace stint::permits {

PersistenceWaits::PersistenceWaits(locks::LockManager& book, net::Executor executor)
    : book_{book}, executor_{std::move(executor)} {
    book_.add(*this);
}

PersistenceWaits::~PersistenceWaits() {
    detach();
}

void PersistenceWaits::detach() noexcept {
    if (std::exchange(attached_, false))
        book_.remove(*this);
}

// Wakes every wait: each one checks whether its own grant was written.
void PersistenceWaits::on_written() noexcept {
    const std::lock_guard lock{mutex_};
    for (PersistenceWait& each : waiting_)
        each.wait_.wake();
}

PersistenceWait::PersistenceWait(PersistenceWaits& all, const locks::Grant& grant)
    : all_{all}, grant_{grant}, wait_{all.executor_} {
    const std::lock_guard lock{all_.mutex_};
    all_.waiting_.push_back(*this);
}

PersistenceWait::~PersistenceWait() {
    const std::lock_guard lock{all_.mutex_};
    all_.waiting_.erase(all_.waiting_.iterator_to(*this));
}

net::Task<> PersistenceWait::until_written() {
    while (!wait_.is_cancelled() &&
           all_.book_.kept(grant_) == locks::LockManager::Durability::not_yet) {
        const net::Wait::End end = co_await wait_.until_woken();
        static_cast<void>(end); // the loop's condition checks the result
    }
}

} // namespace stint::permits
