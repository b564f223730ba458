// Grants of one worker that are not in the state file yet, and how they hear that they are.
#pragma once

#include "locks/lock_manager.hpp"
#include "net/event.hpp"
#include "net/types.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>

namespace stint::permits {

// Owned by who waits; may end at any time.
class PersistenceWait : public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  public:
    PersistenceWait() = default;
    PersistenceWait(const PersistenceWait&) = delete;
    PersistenceWait& operator=(const PersistenceWait&) = delete;

    locks::Grant grant;
    // co_await over.wait() until is_over: it is written, or never will be.
    net::Event over;
    bool is_over = false;
};

// One per worker, on it but for on_written().
class PersistenceWaits final : public locks::LockManager::Listener {
  public:
    PersistenceWaits(locks::LockManager& book, net::Executor executor);
    ~PersistenceWaits();

    // True: it is to be waited for. False: LockManager::kept() has the answer already.
    [[nodiscard]] bool await(PersistenceWait& write);
    // Before the loop ends: nothing is told any more.
    void detach() noexcept;
    // It is over with the loop's next turn, whether it is written or not.
    void give_up(PersistenceWait& write) noexcept;
    // Resumes all that are over. Called through the loop; and with every tick, in case there was no
    // memory for that.
    void resume_finished();

  private:
    void on_written() noexcept override;
    void post_tell() noexcept;

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
