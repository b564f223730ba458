// A client's request under its configuration: what all parts of an exchange refer to.
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
    std::uint32_t route_ = 0; // its slot: a reload may move the counters
};

// Owned by its exchange, whose other parts hold references to it. Destroyed, it releases what the
// request was granted.
class Request : private net::Deadline {
  public:
    // Told when the request is aborted.
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
    // As of the head's arrival.
    [[nodiscard]] ActiveConfig& config() const noexcept { return *config_; }
    [[nodiscard]] const routing::Snapshot& snapshot() const noexcept { return *config_->snapshot; }
    [[nodiscard]] WorkerCallbacks& callbacks() noexcept { return callbacks_; }
    [[nodiscard]] admission::RequestAdmission& admission() noexcept { return admission_; }
    [[nodiscard]] RequestRecord& record() noexcept { return record_; }
    [[nodiscard]] const RequestRecord& record() const noexcept { return record_; }

    [[nodiscard]] bool has_route() const noexcept { return admission_.route() != nullptr; }
    [[nodiscard]] const routing::Route& route() const noexcept { return *admission_.route(); }
    [[nodiscard]] bool sends_normal_path() const noexcept { return admission_.sends_normal_path(); }
    // Takes the request's id, client and fields to log from its head.
    void take_head();
    // The facts of the head; decide() completes them.
    [[nodiscard]] routing::KeyFacts facts() const;
    // Takes the admission's first decision. Counts the request on its route.
    Next decide(routing::KeyFacts& facts);
    // Takes a decision over: status and outcome of its reply, or of the route's own answer.
    Next take(admission::Next decided);
    // Notes the end of a wait that began with the last decision, or later. Returns its length.
    Duration end_wait();
    // Fails the request. detail: for logs alone if the upstream failed, else for the client.
    void fail(int status, std::string detail, observe::Outcome outcome);

    // The first reason stays, except that a client may be gone from one that may be retried.
    void abort(AbortReason why) noexcept;
    [[nodiscard]] AbortReason abort_reason() const noexcept { return abort_reason_; }
    [[nodiscard]] bool is_aborted() const noexcept { return abort_reason_ != AbortReason::no; }
    // Replaces the reason by a better one, or by none: the request goes on.
    void set_abort_reason(AbortReason why) noexcept { abort_reason_ = why; }

    // Ends its wait in the admission queue, or for shared counters, soon.
    void cancel_limits() noexcept;
    // Ends the request: settles what the end tells, releases the permit, counts and logs.
    // endpoint: the text of the one it went to; empty: none.
    void end(const Now& now, std::string_view endpoint, unsigned attempts);

    // Aborts the request if it waits for longer than that.
    void arm(Waiting what, Duration length);
    // Ends the wait.
    void disarm() noexcept { net::Deadline::disarm(); }
    // The same, where the request goes on to wait for its upstream.
    void await_upstream() noexcept {
        disarm();
        waiting_ = Waiting::upstream;
    }
    [[nodiscard]] bool waits_for_client() const noexcept { return waiting_ == Waiting::client; }

  private:
    void count() noexcept;
    void log(const Now& now, std::string_view endpoint, unsigned attempts);
    void on_deadline() noexcept override { abort(timeout_reason(waiting_)); }

    Context& context_;
    server::ClientStream& stream_;
    Aborted& aborted_;
    const std::shared_ptr<ActiveConfig> config_;
    WorkerCallbacks callbacks_;
    admission::RequestAdmission admission_; // decides, and has the reply and what was granted
    RouteInFlight route_in_flight_;
    RequestRecord record_;
    AbortReason abort_reason_ = AbortReason::no;
    Waiting waiting_ = Waiting::connect;
};

} // namespace stint::proxy
