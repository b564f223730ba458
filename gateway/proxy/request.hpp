// A client's request with its configuration and its admission. All parts of an exchange refer to
// it.
#pragma once

#include "admission/request_admission.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "net/deadlines.hpp"
#include "proxy/abort_reason.hpp"
#include "proxy/admission/worker_callbacks.hpp"
#include "proxy/context.hpp"
#include "proxy/progress.hpp"
#include "proxy/request_record.hpp"
#include "server/client_stream.hpp"

#include <memory>
#include <string>

namespace stint::proxy {

// Counts a request among those in flight on its route.
class RouteInFlight {
  public:
    RouteInFlight() = default;
    RouteInFlight(const RouteInFlight&) = delete;
    RouteInFlight& operator=(const RouteInFlight&) = delete;
    ~RouteInFlight() {
        if (counters_ != nullptr)
            --counters_->routes[route_].in_flight;
    }
    void enter(observe::WorkerCounters& counters, std::uint32_t route) noexcept {
        counters_ = &counters;
        route_ = route;
        ++counters.routes[route].in_flight;
    }

  private:
    observe::WorkerCounters* counters_ = nullptr;
    std::uint32_t route_ = 0; // metric slot: unlike a pointer, valid after a reload
};

// Owned by its exchange, whose other parts hold references to it. The destructor releases what the
// limits have granted to the request.
class Request : private net::Deadline {
  public:
    // Is notified when the request is aborted.
    class Aborted {
      public:
        // Ends all waits of the request soon.
        virtual void on_abort() noexcept = 0;

      protected:
        ~Aborted() = default;
    };

    Request(Context& context, server::ClientStream& stream, Aborted& aborted);

    [[nodiscard]] Context& context() const noexcept { return context_; }
    [[nodiscard]] server::ClientStream& stream() const noexcept { return stream_; }
    [[nodiscard]] const RequestHead& head() const noexcept { return stream_.head(); }
    // Returns the configuration that was active when the head arrived.
    [[nodiscard]] ActiveConfig& config() const noexcept { return *config_; }
    [[nodiscard]] const routing::Snapshot& snapshot() const noexcept { return *config_->snapshot; }
    [[nodiscard]] WorkerCallbacks& callbacks() noexcept { return callbacks_; }
    [[nodiscard]] admission::RequestAdmission& admission() noexcept { return admission_; }
    [[nodiscard]] RequestRecord& record() noexcept { return record_; }
    [[nodiscard]] const RequestRecord& record() const noexcept { return record_; }

    // Takes a place among max_requests_in_flight. False: there is none, and the request was
    // refused.
    [[nodiscard]] bool enter();
    [[nodiscard]] bool has_route() const noexcept { return admission_.route() != nullptr; }
    [[nodiscard]] const routing::Route& route() const noexcept { return *admission_.route(); }
    [[nodiscard]] bool sends_normal_path() const noexcept { return admission_.sends_normal_path(); }
    // Takes the request's id, client and fields to log from its head.
    void take_head();
    // Returns the facts of the head that limits' keys are made of. decide() completes them.
    [[nodiscard]] routing::KeyFacts facts() const;
    // Asks the admission for its first decision, and counts the request as in flight on its route.
    Next decide(routing::KeyFacts& facts);
    // Applies a decision of the admission: if the gateway answers, sets the status and outcome.
    // Returns the request's next step.
    Next take(admission::Next decided);
    // Ends a wait and adds its length to the record. Returns the length: the time since the last
    // decision or the end of the last wait.
    Duration end_wait();
    // Sets the status and outcome of a request that the gateway itself answers. detail: only for
    // logs if the upstream failed, else the explanation for the client.
    void fail(int status, std::string detail, observe::Outcome outcome);

    // Aborts the request. The first reason stays, except that client_gone replaces connect_timeout.
    void abort(AbortReason why) noexcept;
    [[nodiscard]] AbortReason abort_reason() const noexcept { return abort_reason_; }
    [[nodiscard]] bool is_aborted() const noexcept { return abort_reason_ != AbortReason::no; }
    // Replaces the abort reason by a more precise one, or by `no`: the request then goes on.
    void set_abort_reason(AbortReason why) noexcept { abort_reason_ = why; }

    // Ends the request's wait in the admission queue, or for shares, soon.
    void cancel_limits() noexcept;
    // Gives back the slots of limits, and the place among max_requests_in_flight. Idempotent.
    void release(const Now& now) noexcept;
    // Ends the request: settles the charges that depend on its end, releases the permit, counts and
    // logs. endpoint: text of the endpoint that the request was sent to; empty if there was none.
    void end(const Now& now, std::string_view endpoint, unsigned attempts);

    // Arms the deadline: the request is aborted if this wait takes longer than `length`.
    void arm(Waiting what, Duration length);
    // Disarms the deadline at the end of a wait.
    void disarm() noexcept { net::Deadline::disarm(); }
    // Disarms the deadline, and notes that the request now waits for its upstream, not its client.
    void await_upstream() noexcept {
        disarm();
        waiting_ = Waiting::upstream;
    }
    [[nodiscard]] bool waits_for_client() const noexcept { return waiting_ == Waiting::client; }

  private:
    void count() noexcept;
    [[nodiscard]] std::string refused_key();
    void log(const Now& now, std::string_view endpoint, unsigned attempts);
    void on_deadline() noexcept override { abort(timeout_reason(waiting_)); }

    Context& context_;
    server::ClientStream& stream_;
    Aborted& aborted_;
    const std::shared_ptr<ActiveConfig> config_;
    RequestsInFlight::Slot slot_;
    WorkerCallbacks callbacks_;
    admission::RequestAdmission admission_; // the limits' decision, reply and permit
    RouteInFlight route_in_flight_;
    RequestRecord record_;
    AbortReason abort_reason_ = AbortReason::no;
    Waiting waiting_ = Waiting::connect;
};

} // namespace stint::proxy
