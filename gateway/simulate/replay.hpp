// Replays access logs through a configuration's routes and limits, with the time of the logs.
#pragma once

#include "config/schema/schema.hpp"
#include "limits/queue/admission_queue.hpp"
#include "limits/registry.hpp"
#include "observe/metrics.hpp"
#include "runtime/compile.hpp"
#include "runtime/synthetic_request.hpp"
#include "simulate/logged_request.hpp"
#include "simulate/simulated_request.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace stint::simulate {

// Decides logged requests with the admission code of live requests. Wall and steady clock both
// follow the times in the log.
class Replay final : limits::WakeupScheduler, limits::Mailbox {
  public:
    // logged: names, in lower case, of header fields that the log always records. If any other
    // field is absent in a log line, the request may have had it, so limits that read the field are
    // undecided for this request.
    Replay(const config::Config& config, const FieldNames& logged);

    // Decides a request. Call it in the order of the requests' time. decided: called once with the
    // verdict; if the request is queued, during a later judge() or finish().
    void judge(const LoggedRequest& logged, SimulatedRequest::Decided decided);
    // Advances the clock until no request is queued any more. Call it after the last request.
    void finish();

  private:
    using Request = std::unique_ptr<SimulatedRequest>;

    void schedule(SteadyTime at) noexcept override { opens_at_ = at; }
    void run_now() noexcept override { opens_at_ = SteadyTime::min(); }
    void notify() noexcept override {} // open_queue() collects admitted requests itself

    void advance_to(SteadyTime now);
    [[nodiscard]] SteadyTime next_end() const noexcept;
    void end_first();
    void open_queue(SteadyTime now);
    void run(Request request);

    limits::Registry registry_;
    observe::MetricSlots slots_;
    runtime::Compiled compiled_;
    runtime::RequestReader reader_;
    admission::Scratch scratch_;
    const KeyHasher ticket_hasher_{};
    std::vector<FieldNames> doubtful_;
    limits::AdmissionQueue queue_{*this};
    SteadyTime opens_at_ = SteadyTime::max(); // time of the next open_queue()
    SteadyTime clock_{};
    std::unordered_map<const SimulatedRequest*, Request> waiting_; // in the admission queue
    std::vector<Request> running_; // a heap of requests by their end, the earliest first
};

} // namespace stint::simulate
