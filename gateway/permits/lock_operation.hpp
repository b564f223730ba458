// One ask for a lease, or for more time: from its lock to its answer. Start reading at begin().
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
#include "proxy/admission/queued_request.hpp"
#include "proxy/context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::permits {

// Lives on one worker, for the time of one request. Destroyed while it waits, it loses its place;
// destroyed before its answer was written, what it was granted is free again.
class LockOperation final : public DeferredReply {
  public:
    // ties: of the connection it came on. All outlive this.
    LockOperation(
        proxy::Context& context,
        locks::LockManager& book,
        PersistenceWaits& persistence_waits,
        ConnectionLeases& connection_leases);
    ~LockOperation();

    enum class Step : std::uint8_t { answered, waits };
    // What `name` and `ask` refer to is not looked at afterwards.
    [[nodiscard]] Step
    begin(std::string_view name, const LockRequest& ask, locks::LeaseBinding binding);
    [[nodiscard]] Step renew(
        std::string_view name,
        Hash128 lease,
        std::optional<Duration> ttl,
        locks::LeaseBinding binding);

    [[nodiscard]] net::Event& over() noexcept override;
    [[nodiscard]] bool is_over() const noexcept override;
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override;
    void write(http::HeadBuffer& out, const http::ReplyContext& context) override;
    [[nodiscard]] bool streams() const noexcept override {
        return status_ == created && binding_ == locks::LeaseBinding::stream;
    }
    [[nodiscard]] bool write_more(http::HeadBuffer& out) override;
    [[nodiscard]] const locks::Grant& grant() const noexcept { return write_.grant; }

  private:
    static constexpr int created = 201;
    static constexpr int renewed = 200;

    bool find_lock(std::string_view name, std::optional<std::uint64_t> max);
    void set_wish(const LockRequest& ask);
    [[nodiscard]] Step line_up(Duration wait);
    void take(limits::Permit permit);
    void have(const locks::Grant& grant);
    [[nodiscard]] Step keep();
    void end_write();
    [[nodiscard]] Step refuse(Duration retry_after);
    void fail(int status, std::string detail);
    template <class Out>
    void write_grant(Out& out) const;
    void write_stream(http::HeadBuffer& out, const http::ReplyContext& context) const;
    void write_busy(http::HeadBuffer& out, const http::ReplyContext& context) const;

    proxy::Context& context_;
    locks::LockManager& book_;
    PersistenceWaits& writes_;
    ConnectionLeases& connection_leases_;
    Now now_;
    locks::LockPtr lock_;
    std::string name_;
    locks::LeaseRequest wish_;
    locks::LeaseBinding binding_ = locks::LeaseBinding::lease;
    std::unique_ptr<proxy::QueuedRequest> queued_;
    locks::Waiting waiting_; // while there is a turn to come
    PersistenceWait write_;  // of what was granted
    bool untold_ = false;    // and of which nobody knows yet
    bool kept_ = false;      // nothing is waited for any more
    Duration waited_{};
    int status_ = created;
    std::string detail_;     // of any status but those of a grant
    Duration retry_after_{}; // of 409 and 503
    std::uint64_t max_ = 0;  // of 422
    std::uint64_t held_ = 0; // of 409
    Duration closed_{};      // of 409: it is held by nobody knows whom, from before the start
};

} // namespace stint::permits
