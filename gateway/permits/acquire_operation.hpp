// One request for permits, from its limits to its reply. Start reading at begin().
#pragma once

#include "admission/local_reply.hpp"
#include "admission/share_wait.hpp"
#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "limits/limit.hpp"
#include "permits/acquire_limits.hpp"
#include "permits/acquire_request.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/shared.hpp"
#include "proxy/admission/queued_request.hpp"
#include "proxy/admission/share_wakeup.hpp"
#include "proxy/context.hpp"
#include "routing/charges.hpp"
#include "routing/client_address.hpp"

#include <boost/container/static_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace stint::permits {

// Lives on one worker, for one request. Destroying it while it waits gives up its place in the
// queue and charges nothing. A request for which the share of a limit is too small waits for the
// store's answer before it is refused or queued.
class AcquireOperation final : public DeferredReply {
  public:
    // peer: the client at the other end of the connection; outlives this object.
    AcquireOperation(
        proxy::Context& context, Shared& shared, const server::ConnectionInfo& connection);

    enum class Step : std::uint8_t { answered, waits };
    // Does not keep references into `ask`.
    [[nodiscard]] Step begin(const AcquireRequest& ask);

    [[nodiscard]] net::Task<> wait() override;
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override;
    void respond(http::Response& to) override;

  private:
    bool is_open();
    bool claim_once(const AcquireRequest& ask);
    void replay(const Grant& grant);

    Step admit(const AcquireRequest* ask);
    bool asks_for_shares(const limits::Decision& refused, const AcquireRequest* ask);
    [[nodiscard]] bool stores_failed() const noexcept;
    [[nodiscard]] limits::Decision without_shares(limits::Decision refused);
    bool reserves() const noexcept;
    limits::Decision admit_now();
    limits::Decision admit_batch(std::uint64_t batch);
    limits::Decision admit_reserving();
    void keep_shares();
    void note_shares() noexcept;
    void tell_true_time(limits::Decision& decision);
    [[nodiscard]] admission::WaitTermsList terms_of(const AcquireRequest& ask) const;
    void line_up(const AcquireRequest* ask);
    Step settle(limits::Decision& decision);
    void grant();
    void issue_ticket();
    void refuse(limits::Decision& decision);
    void refuse(const routing::Charges& charges, const limits::Decision& decision);
    void fail(int status, std::initializer_list<std::string_view> detail);
    template <class Out>
    void write_grant(Out& out) const;
    [[nodiscard]] Grant::Limit state_of(const AcquireLimits::Part& part) const;
    [[nodiscard]] SteadyTime end_of_grant() const;

    proxy::Context& context_;
    Shared& shared_;
    const routing::ClientAddress& peer_;
    server::WaitSlots* const waits_; // the connection's; may be null
    const std::shared_ptr<proxy::ActiveConfig> config_;
    const SteadyTime waiting_since_; // see server::ConnectionInfo
    Now now_;
    admission::LocalReply reply_; // for any status but 200
    AcquireLimits limits_;        // declared before queued_, which refers to its limits
    IdempotencyCache::Claim once_;
    std::unique_ptr<proxy::QueuedRequest> queued_;
    proxy::ShareWakeup share_wakeup_;
    std::unique_ptr<admission::ShareWait> share_wait_; // null: has not asked for shares
    Hash128 owner_{}; // hash of the owner that the request names, or of its client's network
    std::uint64_t batch_ = 0;
    Duration wait_{};        // longest wait in the queue
    bool one_first_ = false; // a queued batch waits for one permit, then takes the rest
    bool shares_ = false;    // the fair shares of other owners are withheld from this request
    bool listed_ = false;
    bool ticket_ = false;
    bool replayed_ = false;
    int status_ = 200;
    Grant grant_;       // for status 200
    Duration paused_{}; // rest of paused_limit_'s pause; above 0: the reply is about the pause
    limits::LimitPtr paused_limit_;
};

} // namespace stint::permits
