// A replay of the log through a configuration's routes and limits, with the log's clock.
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

// Runs the code that decides over live requests, with `now` from the log: wall and monotonic clock
// advance together.
class Replay final : limits::WakeupScheduler, limits::Mailbox {
  public:
    // logged: fields, in lower case, that the log carries wherever the request had them. A request
    // without any other field may have had it: a limit that reads it is undecided.
    Replay(const config::Config& config, const FieldNames& logged);

    // Decides about a request. Requests come ordered by time. decided: called once with the
    // verdict; for a request that waits during a later call, with the time that it waits for.
    void judge(const LoggedRequest& logged, SimulatedRequest::Decided decided);
    // Lets the clock run until no request waits. To be called after the last request.
    void finish();

  private:
    using Request = std::unique_ptr<SimulatedRequest>;

    void schedule(SteadyTime at) noexcept override { opens_at_ = at; }
    void run_now() noexcept override { opens_at_ = SteadyTime::min(); }
    void notify() noexcept override {} // open_queue() collects at once

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
    SteadyTime opens_at_ = SteadyTime::max(); // when the queue is to be opened next
    SteadyTime clock_{};
    std::unordered_map<const SimulatedRequest*, Request> waiting_; // in the queue
    std::vector<Request> running_;                                 // a heap, the first to end first
};

} // namespace stint::simulate
