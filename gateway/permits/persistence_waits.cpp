#include "permits/persistence_waits.hpp"

#include "net/post.hpp"

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

// Sets any_ before it looks at the grant: the writer reads any_ only after it is known that all is
// written.
bool PersistenceWaits::await(PersistenceWait& write) {
    any_.store(true);
    const bool waits = book_.kept(write.grant) == locks::LockManager::Durability::not_yet;
    if (waits)
        waiting_.push_back(write);
    else
        any_.store(!waiting_.empty());
    return waits;
}

void PersistenceWaits::give_up(PersistenceWait& write) noexcept {
    if (!write.is_linked())
        return;
    write.unlink();
    given_up_.push_back(write);
    post_resume();
}

void PersistenceWaits::resume_finished() {
    List over;
    over.splice(over.end(), given_up_);
    for (auto next = waiting_.begin(); next != waiting_.end();) {
        PersistenceWait& write = *next++;
        if (book_.kept(write.grant) == locks::LockManager::Durability::not_yet)
            continue;
        write.unlink();
        over.push_back(write);
    }
    any_.store(!waiting_.empty());
    while (!over.empty()) { // a resumed waiter may end another
        PersistenceWait& write = over.front();
        over.pop_front();
        write.is_over = true;
        write.over.signal();
    }
}

void PersistenceWaits::on_written() noexcept {
    if (any_.load())
        post_resume();
}

void PersistenceWaits::post_resume() noexcept {
    static_cast<void>(net::post(executor_, [this] { resume_finished(); }));
}

} // namespace stint::permits
