// Chooses an endpoint for a request from the endpoints' weights and loads and from the balancer's
// own state. Uses no clock, no sockets, and no state that workers share.
#pragma once

#include "base/time.hpp"
#include "routing/balance_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stint::upstream {

// A bit set of endpoints, by index in the upstream's list. It has room for most_endpoints.
using EndpointMask = std::uint64_t;
inline constexpr std::size_t most_endpoints = 64;
inline constexpr std::size_t no_endpoint = most_endpoints;

// The values of an endpoint that one choice compares.
struct Candidate {
    // Weight in thousandths, slow_share() included; 0 means that the endpoint must not be chosen.
    std::uint64_t weight = 0;
    std::uint64_t seed = 0;      // stable_hash() of the endpoint's text
    std::uint32_t in_flight = 0; // requests in flight, over all workers
};

// Returns a hash that is the same in every process and on every run, so that several gateways
// choose the same endpoint. It does not resist a client that looks for collisions. FNV-1a, mixed
// once more.
[[nodiscard]] std::uint64_t stable_hash(std::string_view text) noexcept;

// Returns the share of its weight, in thousandths, that an endpoint has at `now` after it came back
// at `back`: a tenth at first, growing linearly to the whole within slow_start. back = SteadyTime{}
// means that the endpoint was never away: the whole.
[[nodiscard]] std::uint64_t
slow_share(SteadyTime back, Duration slow_start, SteadyTime now) noexcept;

// One worker's balancer for one upstream. Not thread-safe. Allocates in its constructor alone.
class Balancer {
  public:
    // endpoints: number of endpoints, at most most_endpoints.
    Balancer(routing::Balance how, std::size_t endpoints) : how_{how}, turns_(endpoints) {}

    // Returns the index of the candidate that takes the request; no_endpoint if all weights are 0.
    // candidates: one for each endpoint. key: for Balance::hash.
    //
    // round_robin: each endpoint in proportion to its weight, spread out rather than in bursts.
    // least_requests: the endpoint with the least (in flight + 1) / weight; equal ones in turn.
    // hash: weighted rendezvous hashing (Thaler and Ravishankar 1998; Mosko's -weight / ln of the
    // draw): if an endpoint leaves, only its keys move.
    [[nodiscard]] std::size_t
    choose(std::span<const Candidate> candidates, std::uint64_t key) noexcept;

  private:
    std::size_t in_turn(std::span<const Candidate> candidates) noexcept;
    std::size_t least(std::span<const Candidate> candidates) noexcept;

    routing::Balance how_;
    std::vector<std::int64_t> turns_; // round_robin: credit of each endpoint, in thousandths
    std::size_t next_ = 0;            // least_requests: the endpoint to compare first
};

} // namespace stint::upstream
