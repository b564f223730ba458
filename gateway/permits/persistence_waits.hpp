// Grants of one worker that wait to be written to the state file.
#pragma once

#include "locks/lock_manager.hpp"
#include "net/types.hpp"
#include "net/wait.hpp"

#include <boost/intrusive/list.hpp>

#include <mutex>

namespace stint::permits {

class PersistenceWaits;

// The wait of one grant. Owned by the request; may be destroyed at any time. Thread: the worker's.
class PersistenceWait : public boost::intrusive::list_base_hook<> {
  public:
    PersistenceWait(PersistenceWaits& all, const locks::Grant& grant);
    ~PersistenceWait();
    PersistenceWait(const PersistenceWait&) = delete;
    PersistenceWait& operator=(const PersistenceWait&) = delete;

    // Waits until the grant is written, cannot be written any more, or give_up() is called.
    [[nodiscard]] net::Task<> until_written();
    // Ends the wait with a later turn of the event loop, whether the grant is written or not.
    void give_up() noexcept { wait_.cancel(); }

  private:
    friend class PersistenceWaits;

    PersistenceWaits& all_;
    const locks::Grant grant_;
    net::Wait wait_;
};

// One per worker. Threads: the worker's, except for on_written().
class PersistenceWaits final : public locks::LockManager::Listener {
  public:
    PersistenceWaits(locks::LockManager& book, net::Executor executor);
    ~PersistenceWaits();

    // Detaches from the LockManager before the event loop ends: no more callbacks.
    void detach() noexcept;

  private:
    friend class PersistenceWait;
    using List =
        boost::intrusive::list<PersistenceWait, boost::intrusive::constant_time_size<false>>;

    void on_written() noexcept override;

    locks::LockManager& book_;
    const net::Executor executor_;
    std::mutex mutex_; // may be locked while the LockManager's mutex is held
    List waiting_;
    bool attached_ = true;
};

} // namespace stint::permits
