// Chooses an endpoint of an origin for a request, and reports the results of the request's attempts
// to it.
#pragma once

#include "base/time.hpp"
#include "proxy/forward/endpoint_wait.hpp"
#include "proxy/request.hpp"
#include "upstream/cluster.hpp"
#include "upstream/in_flight_token.hpp"
#include "upstream/origin.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stint::proxy {

// One for each request. Holds the request's slot on the endpoint until the end.
class EndpointChoice {
  public:
    explicit EndpointChoice(Request& request) noexcept : request_{request} {}
    EndpointChoice(const EndpointChoice&) = delete;
    EndpointChoice& operator=(const EndpointChoice&) = delete;

    // Chooses the request's origin. Requires a route that forwards. facts: input for the key of
    // `balance: hash`.
    void choose_origin(const routing::KeyFacts& facts);
    [[nodiscard]] const routing::UpstreamSpec& spec() const noexcept { return origin_->spec(); }
    [[nodiscard]] upstream::Cluster& cluster() const noexcept { return origin_->cluster(); }
    [[nodiscard]] observe::UpstreamCounters& counters() const noexcept {
        return request_.context().counters.upstreams[spec().metric];
    }

    // --- the choice ---
    // Takes a slot on an endpoint, unless the request has one. Returns forward, reply, or
    // wait_endpoint: the request is queued.
    [[nodiscard]] Next take_first();
    // Waits for a slot, and watches the client meanwhile. Always ends: with a slot, with a refusal,
    // or when the request is aborted. Returns forward or reply.
    [[nodiscard]] net::Task<Next> wait();
    // Ends the wait soon.
    void cancel() noexcept {
        if (wait_)
            wait_->give_up();
    }
    // Takes a slot on an endpoint that has not failed the request, in exchange for the current
    // slot. If there is none and `again` is set, takes a slot on any endpoint but the current one,
    // or else keeps the current slot. Returns false if no endpoint takes the request.
    [[nodiscard]] bool take_other(SteadyTime now, bool again);
    // Gives the slot back and forgets the endpoints that were tried.
    void leave() noexcept;
    // Gives the slot back; the endpoint is still known, for logs.
    void release_place() noexcept { in_flight_.release(); }

    // --- the endpoint ---
    [[nodiscard]] bool chosen() const noexcept { return member_ != nullptr; }
    [[nodiscard]] upstream::StreamSource& streams() const noexcept { return *member_->streams; }
    // Returns the endpoint's text for logs and replies; empty before the choice.
    [[nodiscard]] const std::string& name() const noexcept;
    // Returns the Host to send for a request without a Host (HTTP/1.0). Empty before the choice.
    [[nodiscard]] std::string_view authority() const noexcept;

    // Begins another attempt. Only its first call of answered() or failed() is counted.
    void begin_attempt() noexcept { is_reported_ = false; }
    // Excludes this attempt from the endpoint's results.
    void ignore_attempt() noexcept { is_reported_ = true; }
    // answered() reports the response's status to the endpoint, failed() a failure; `why` is for
    // people. A status of 500, 502, 503 or 504 counts as a failure.
    void answered(int status, SteadyTime at);
    void failed(std::string_view why);

  private:
    enum class Taken : std::uint8_t { yes, full, none };

    Taken take(SteadyTime now);
    Next join_queue(SteadyTime now);
    Next try_again(SteadyTime now);
    Next refuse(Taken why, SteadyTime now);

    Request& request_;
    upstream::OriginPtr origin_;
    upstream::Cluster::Member* member_ = nullptr;
    upstream::InFlightToken in_flight_; // the request's slot on member_
    upstream::EndpointMask tried_ = 0;  // endpoints that have failed the request
    std::uint64_t key_ = 0;             // hash of the key, for `balance: hash`
    bool is_reported_ = false;
    std::unique_ptr<EndpointWait> wait_; // null unless the request is queued
};

} // namespace stint::proxy
