// A worker's callbacks for an admission decision: counting, recording of recent requests, waits.
#pragma once

#include "admission/callbacks.hpp"
#include "base/time.hpp"
#include "proxy/admission/queued_request.hpp"
#include "proxy/admission/share_wakeup.hpp"
#include "proxy/context.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace stint::proxy {

// Counts the refusal of a charge on the limit. Returns the client's Retry-After: the time it has to
// wait, plus the limit's jitter.
[[nodiscard]] Duration note_refusal(
    Context& context,
    const ActiveConfig& config,
    routing::AppliedLimit limit,
    Hash128 key,
    Duration retry_after);

// Counts what the limits that are not enforced would have refused. decision: one that admits the
// request.
void note_dry_run(
    Context& context,
    const ActiveConfig& config,
    const routing::Charges& charges,
    const limits::Decision& decision) noexcept;

// Logs that a limit's table has no room for new keys.
void warn_table_full(routing::AppliedLimit limit);

// One for each request. The destructor takes a queued request out of the queue.
class WorkerCallbacks final : public admission::Callbacks {
  public:
    // waits: the slots of the request's connection; may be null. waiting_since: see ConnectionInfo.
    WorkerCallbacks(
        Context& context,
        const ActiveConfig& config,
        server::WaitSlots* waits,
        SteadyTime waiting_since) noexcept
        : context_{context}, config_{config}, waits_{waits}, waiting_since_{waiting_since},
          share_wakeup_{context.executor} {}
    WorkerCallbacks(const WorkerCallbacks&) = delete;
    WorkerCallbacks& operator=(const WorkerCallbacks&) = delete;

    // Sets the id under which the request is recorded, and its arrival. The id must stay valid
    // until the decision.
    void name(std::string_view request_id, WallTime arrival) noexcept {
        request_id_ = request_id;
        arrival_ = arrival;
    }
    // The request's waiter; null while it is not queued.
    [[nodiscard]] QueuedRequest* queued() const noexcept { return queued_.get(); }

    // The request's wait for larger shares.
    [[nodiscard]] ShareWakeup& share_wakeup() noexcept { return share_wakeup_; }

    void begin(const routing::Route& route, const Now& now) override;
    void counts(routing::AppliedLimit limit, const routing::Key& key) noexcept override;
    void exempt(routing::AppliedLimit limit) noexcept override;
    void refused(routing::AppliedLimit limit, Hash128 key, Duration retry_after) noexcept override;
    void denied(routing::AppliedLimit limit) noexcept override;
    void fence_rejected(const routing::Route& route) noexcept override;
    void would_refuse(routing::AppliedLimit limit, Hash128 key) noexcept override;
    void would_wait(routing::AppliedLimit limit) noexcept override;
    void table_full(routing::AppliedLimit limit) noexcept override;
    void cost_exceeded(routing::AppliedLimit limit) noexcept override;
    void permit_used() noexcept override {
        ++context_.counters.tickets[observe::WorkerCounters::used];
    }
    void permit_unknown() noexcept override {
        ++context_.counters.tickets[observe::WorkerCounters::unknown];
    }
    void waited(routing::AppliedLimit limit, bool admitted, Duration waited) noexcept override;
    [[nodiscard]] Duration with_jitter(Duration retry_after, Duration most) noexcept override;
    [[nodiscard]] limits::AdmissionQueue& queue() noexcept override {
        return context_.wakeups.queue();
    }
    [[nodiscard]] admission::QueuedCharges& make_queued() override;
    void drop_queued() noexcept override { queued_.reset(); }
    void shares_asked(SteadyTime answer_by) override { share_wakeup_.shares_asked(answer_by); }
    void shares_answered() noexcept override { share_wakeup_.shares_answered(); }

  private:
    void record(RecentRequests::Kind kind, std::uint32_t decided_by, Duration retry_after) noexcept;

    Context& context_;
    const ActiveConfig& config_;
    server::WaitSlots* const waits_;
    const SteadyTime waiting_since_;
    std::string_view request_id_;
    WallTime arrival_{};
    SteadyTime now_{};
    std::optional<std::uint64_t> recent_; // number of the request in Context::recent
    std::unique_ptr<QueuedRequest> queued_;
    ShareWakeup share_wakeup_;
};

} // namespace stint::proxy
