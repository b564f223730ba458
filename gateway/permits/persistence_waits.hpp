// Grants of one worker that wait to be written to the state file.
#pragma once

#include "locks/lock_manager.hpp"
#include "net/event.hpp"
#include "net/types.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>

namespace stint::permits {

// One grant's wait. Owned by the waiter; may end at any time.
class PersistenceWait : public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  public:
    PersistenceWait() = default;
    PersistenceWait(const PersistenceWait&) = delete;
    PersistenceWait& operator=(const PersistenceWait&) = delete;

    locks::Grant grant;
    // Signalled when the grant is written, or never will be: co_await over.wait() until is_over.
    net::Event over;
    bool is_over = false;
};

// One per worker. Threads: the worker's, except for on_written().
class PersistenceWaits final : public locks::LockManager::Listener {
  public:
    PersistenceWaits(locks::LockManager& book, net::Executor executor);
    ~PersistenceWaits();

    // Begins a wait. True: wait for write.over. False: LockManager::kept() has the answer already.
    [[nodiscard]] bool await(PersistenceWait& write);
    // Detaches from the LockManager before the event loop ends: no more callbacks.
    void detach() noexcept;
    // Ends the wait with the event loop's next turn, whether the grant is written or not.
    void give_up(PersistenceWait& write) noexcept;
    // Resumes all finished waits. Called through the event loop; and with every tick, in case there
    // was no memory for that.
    void resume_finished();

  private:
    void on_written() noexcept override;
    void post_resume() noexcept;

    using List =
        boost::intrusive::list<PersistenceWait, boost::intrusive::constant_time_size<false>>;

    locks::LockManager& book_;
    net::Executor executor_;
    List waiting_;
    List given_up_;
    std::atomic<bool> any_{false};
    bool attached_ = true;
};

} // namespace stint::permits
