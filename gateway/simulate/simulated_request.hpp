// One request of the log that is replayed through a configuration.
#pragma once

#include "admission/request_admission.hpp"
#include "base/time.hpp"
#include "simulate/logged_request.hpp"
#include "simulate/verdict.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stint::simulate {

// The state that the requests of one replay share.
struct Surroundings {
    const routing::Snapshot& snapshot;
    admission::Scratch& scratch;
    const KeyHasher& ticket_hasher;
    limits::AdmissionQueue& queue;
    limits::Mailbox& mailbox;
    const std::vector<FieldNames>& doubtful; // by limit: fields that it reads and the log may omit
};

// A request in the replay. Destroy it after Step::over, or after end() for Step::runs. The objects
// to which `in` refers must outlive it.
class SimulatedRequest final : public admission::Callbacks {
  public:
    using Decided = std::function<void(const Verdict&)>;

    // decided: called once with the verdict on the request.
    SimulatedRequest(const LoggedRequest& logged, const Surroundings& in, Decided decided);
    SimulatedRequest(const SimulatedRequest&) = delete;
    SimulatedRequest& operator=(const SimulatedRequest&) = delete;
    ~SimulatedRequest();

    enum class Step : std::uint8_t {
        over,  // decided; no end() is needed
        waits, // queued; call finish_wait() once its wait is over
        runs   // holds slots or may be refunded; call end() at until()
    };
    [[nodiscard]] Step
    begin(const LoggedRequest& logged, const RequestHead& head, routing::KeyFacts& facts, Now now);
    [[nodiscard]] Step finish_wait(const Now& now);
    [[nodiscard]] SteadyTime until() const noexcept { return until_; }
    void end(const Now& now);

    // The request's waiter in the admission queue. of(): returns the request of a waiter.
    class Queued;
    [[nodiscard]] static SimulatedRequest& of(limits::Waiter& waiter) noexcept;

    bool concerns(routing::AppliedLimit limit, const routing::Key& key) noexcept override;
    void refused(routing::AppliedLimit limit, Hash128, Duration) noexcept override;
    void denied(routing::AppliedLimit limit) noexcept override;
    void waited(routing::AppliedLimit, bool, Duration waited) noexcept override;
    [[nodiscard]] limits::AdmissionQueue& queue() noexcept override { return in_.queue; }
    [[nodiscard]] admission::QueuedCharges& make_queued() override;
    void drop_queued() noexcept override;

  private:
    [[nodiscard]] Step decided(admission::Next next, const Now& now);

    const Surroundings in_;
    const Decided decided_;
    const Duration duration_;
    const int status_;
    const bool was_refused_;                // refused in the log, so its end is unknown
    const LoggedRequest* logged_ = nullptr; // set during begin() only
    std::unique_ptr<Queued> queued_;
    admission::RequestAdmission admission_;
    Verdict verdict_;
    std::vector<std::pair<const routing::LimitTerms*, std::string>> keys_;
    SteadyTime until_{};
};

} // namespace stint::simulate
