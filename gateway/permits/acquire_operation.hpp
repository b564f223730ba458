// One request for permits, from its limits to its reply. Start reading at begin().
#pragma once

#include "admission/local_reply.hpp"
#include "base/time.hpp"
#include "http/head_buffer.hpp"
#include "http/local_reply.hpp"
#include "limits/limit.hpp"
#include "permits/acquire_request.hpp"
#include "permits/deferred_reply.hpp"
#include "permits/shared.hpp"
#include "proxy/admission/queued_request.hpp"
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

[[nodiscard]] inline bool is_fixed_window(const limits::Limit& limit) noexcept {
    return limit.identity().algorithm == limits::Algorithm::fixed_window;
}

// Lives on one worker, for the time of one request. Destroyed while it waits, it loses its place in
// the queue and costs nothing.
class AcquireOperation final : public DeferredReply {
  public:
    // peer: the client at the other end of the connection; outlives this object.
    AcquireOperation(proxy::Context& context, Shared& shared, const routing::ClientAddress& peer);

    enum class Step : std::uint8_t { answered, waits };
    // Does not keep references into `ask`.
    [[nodiscard]] Step begin(const AcquireRequest& ask);

    [[nodiscard]] net::Event& over() noexcept override { return queued_->over; }
    [[nodiscard]] bool is_over() const noexcept override { return queued_->is_over; }
    [[nodiscard]] bool settle() override;
    void give_up() noexcept override { context_.wakeups.give_up(*queued_); }
    void respond(http::Response& to) override;

  private:
    // One of the limits in the request, in its order.
    struct Part {
        const routing::RouteLimit* limit = nullptr;
        RouteLimitPtr brought; // owns `limit` if a caller brought it
        Hash128 key{};
        std::uint64_t cost = 0;
        limits::Numbers numbers{};
        bool exempt = false;
    };
    using Parts = boost::container::static_vector<Part, limits::max_charges>;

    bool find_parts(const AcquireRequest& ask);
    bool find_limit(const Wanted& wanted, Part& part);
    bool find_key(const Wanted& wanted, Part& part);
    bool obey_rules(std::string_view text, Part& part);
    bool fits(const AcquireRequest& ask);
    bool is_open();
    bool list_charges();
    bool claim_once(const AcquireRequest& ask);
    void replay(const Grant& grant);

    Step admit(const AcquireRequest& ask);
    bool reserves() const noexcept;
    limits::Decision admit_now(const AcquireRequest& ask);
    limits::Decision admit_batch(std::uint64_t batch);
    limits::Decision admit_reserving();
    void keep_shares(const AcquireRequest& ask);
    void note_shares() noexcept;
    void tell_true_time(limits::Decision& decision);
    void line_up(const AcquireRequest& ask);
    void settle(limits::Decision& decision);
    void grant();
    void issue_ticket();
    void refuse(limits::Decision& decision);
    void fail(int status, std::initializer_list<std::string_view> detail);
    template <class Out>
    void write_grant(Out& out) const;
    [[nodiscard]] Grant::Limit state_of(const Part& part) const;
    [[nodiscard]] SteadyTime end_of_grant() const;
    [[nodiscard]] const routing::PermitTerms& terms() const noexcept {
        return *config_->snapshot->permits;
    }

    proxy::Context& context_;
    Shared& shared_;
    const routing::ClientAddress& peer_;
    const std::shared_ptr<proxy::ActiveConfig> config_;
    Now now_;
    Parts parts_;
    routing::Charges charges_; // only the parts with a cost
    boost::container::static_vector<std::uint8_t, limits::max_charges> part_of_; // one per charge
    IdempotencyCache::Claim once_;
    std::unique_ptr<proxy::QueuedRequest> queued_;
    Hash128 owner_{}; // identity: the owner that the request names, or its address
    std::uint64_t batch_ = 0;
    bool one_first_ = false; // a queued batch: one permit waits, the rest follows it
    bool shares_ = false;    // the shares of other owners are held back from it
    bool listed_ = false;
    bool ticket_ = false;
    bool replayed_ = false;
    int status_ = 200;
    Grant grant_;                 // for status 200
    admission::LocalReply reply_; // for any other status
    Duration paused_{};           // replaces reply_: the rest of paused_limit_'s pause
    limits::LimitPtr paused_limit_;
};

} // namespace stint::permits
