// One request to acquire or renew a lease, from finding its lock to its reply. Start reading at
// begin().
#pragma once

#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "limits/limit.hpp"
#include "locks/lock_manager.hpp"
#include "permits/acquire_request.hpp"
#include "permits/connection_leases.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/persistence_waits.hpp"
#include "permits/shared.hpp"
#include "permits/store_answer.hpp"
#include "proxy/admission/queued_request.hpp"
#include "proxy/context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::permits {

// Lives on one worker, for one request. A lock that gateways share is granted within this gateway's
// share: a request that finds it too small waits for the store's answer, or in the queue, whose
// waiters are woken when the share grows. Destroying it while it waits gives up its place in the
// queue. Destroying it before respond() withdraws a lease that was newly granted to it.
class LockOperation final : public DeferredReply {
  public:
    // All arguments outlive this object.
    LockOperation(
        proxy::Context& context,
        Shared& shared,
        PersistenceWaits& persistence_waits,
        LeaseOwners& owners);
    ~LockOperation();

    enum class Step : std::uint8_t { answered, waits };
    // Does not keep references into `name` and `ask`.
    [[nodiscard]] Step
    begin(std::string_view name, const LockRequest& ask, locks::LeaseBinding binding);
    [[nodiscard]] Step renew(
        std::string_view name,
        Hash128 lease,
        std::optional<Duration> ttl,
        locks::LeaseBinding binding);

    [[nodiscard]] net::Task<> wait() override;
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override;
    void on_replaced() noexcept override;
    [[nodiscard]] bool is_decided() const noexcept override {
        return !queued_ && !store_answer_.waits();
    }
    void respond(http::Response& to) override;
    [[nodiscard]] bool streams() const noexcept override {
        return status_ == created && binding_ == locks::LeaseBinding::stream;
    }
    [[nodiscard]] bool write_more(http::HeadBuffer& out) override;
    [[nodiscard]] const locks::Grant& grant() const noexcept { return grant_; }

  private:
    static constexpr int created = 201;
    static constexpr int renewed = 200;

    bool find_lock(std::string_view name, std::optional<std::uint64_t> max);
    void set_wish(const LockRequest& ask);
    [[nodiscard]] Step enter();
    [[nodiscard]] Step line_up(Duration wait);
    [[nodiscard]] Step take(limits::Permit permit);
    [[nodiscard]] Step turn_to_new_lock();
    [[nodiscard]] Step await_fence(limits::Permit permit);
    [[nodiscard]] Step settle_asked();
    [[nodiscard]] bool lacks_store() const noexcept;
    [[nodiscard]] Step refuse_for_store();
    [[nodiscard]] Step refuse_for_replacement();
    void have(const locks::Grant& grant);
    [[nodiscard]] Step keep();
    void end_write(locks::LockManager::Durability kept);
    [[nodiscard]] Step refuse(Duration retry_after);
    void fail(int status, std::string detail);
    template <class Out>
    void write_grant(Out& out) const;
    void begin_stream(http::Response& to) const;
    void refuse_busy(http::Response& to) const;

    proxy::Context& context_;
    Shared& shared_;
    PersistenceWaits& writes_;
    LeaseOwners& owners_;
    Now now_;
    const SteadyTime begun_;
    SteadyTime wait_until_{};
    locks::LockPtr lock_;
    std::string name_;
    locks::LeaseRequest wish_;
    locks::LeaseBinding binding_ = locks::LeaseBinding::lease;
    std::unique_ptr<proxy::QueuedRequest> queued_;
    locks::Waiting waiting_; // lists the request as a waiter while it is queued
    StoreAnswer store_answer_;
    locks::Grant grant_;
    std::optional<PersistenceWait> write_; // while the grant is being written to the state file
    bool untold_ = false;                  // a new grant whose reply is not written yet
    int status_ = created;
    std::string detail_;     // the error's text; empty for a grant
    Duration retry_after_{}; // for 409 and 503
    std::uint64_t max_ = 0;  // for 422: the lock's max
    std::uint64_t held_ = 0; // for 409: the slots in use
    Duration closed_{};      // for 409: the rest of start_up_grace; 0 if the grace is over
};

} // namespace stint::permits
