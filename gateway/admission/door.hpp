// The entry points ("doors") that ask for an admission decision about a request, and every
// difference between their decisions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::admission {

enum class Door : std::uint8_t {
    proxy,   // the request itself, at a listener
    check,   // /v1/check, forward-auth: another proxy describes a request
    explain, // POST /explain: an operator describes a request; nothing is charged
    simulate // stint simulate: a line of the access log, on the log's clock
};

// The features of a decision that a door may leave out.
enum class Feature : std::uint8_t {
    redirect_http,
    max_body,
    max_forwards,
    require_fence,
    cooldown,
    cooldown_wait, // when_paused: wait
    concurrency_limit,
    settlement,    // count_when, refund, and a cost that the response tells
    response_cost, // only the cost that the response tells
    tls_subject,   // the client certificate's subject as a key
    prepaid_permit,
    queue,       // when_exceeded: wait
    reservation, // retry_after: reserve
    respond      // the route's own response
};

// A feature that a door leaves out, because it cannot know what the feature needs.
struct Difference {
    Door door;
    Feature feature;
    std::string_view reason; // a predicate with the door as its subject; no full stop
};

// All differences. A feature without an entry for a door works the same through that door.
inline constexpr std::array differences{
    Difference{
        Door::check, Feature::redirect_http, "has no listener of this gateway to redirect from"},
    Difference{Door::check, Feature::max_body, "does not get the request's body"},
    Difference{
        Door::check, Feature::max_forwards,
        "leaves Max-Forwards to the proxy that asks, which forwards the request"},
    Difference{
        Door::check, Feature::cooldown_wait,
        "does not send the request, so it could not report the answer to the pause's probe"},
    Difference{
        Door::check, Feature::concurrency_limit,
        "does not learn the request's end, which frees the slot"},
    Difference{Door::check, Feature::settlement, "does not see the response's status"},
    Difference{Door::check, Feature::tls_subject, "does not see the client's certificate"},
    Difference{
        Door::check, Feature::respond, "leaves the response to the proxy that asks, and says go"},
    Difference{
        Door::explain, Feature::redirect_http, "describes a request without naming a listener"},
    Difference{Door::explain, Feature::max_body, "describes a request without its body"},
    Difference{
        Door::simulate, Feature::redirect_http, "does not find the request's listener in the log"},
    Difference{Door::simulate, Feature::max_body, "does not find the announced length in the log"},
    Difference{Door::simulate, Feature::max_forwards, "does not find Max-Forwards in the log"},
    Difference{
        Door::simulate, Feature::require_fence,
        "does not find in the log which fencing number was the newest"},
    Difference{Door::simulate, Feature::cooldown, "does not find in the log for how long to pause"},
    Difference{
        Door::simulate, Feature::cooldown_wait, "does not find in the log for how long to pause"},
    Difference{
        Door::simulate, Feature::response_cost,
        "does not find the response's cost in the log, and charges what is reserved for it"},
    Difference{
        Door::simulate, Feature::tls_subject, "does not find the client's certificate in the log"},
    Difference{
        Door::simulate, Feature::prepaid_permit,
        "does not find in the log which permits were acquired"},
};

namespace detail {

constexpr std::uint32_t bit(Feature feature) noexcept {
    return 1U << static_cast<unsigned>(feature);
}

// The features that each door leaves out: a bit for each Feature, an element for each Door.
inline constexpr std::array<std::uint32_t, 4> left_out = [] {
    std::array<std::uint32_t, 4> bits{};
    for (const Difference& each : differences)
        bits[static_cast<std::size_t>(each.door)] |= bit(each.feature);
    return bits;
}();

} // namespace detail

// The features of a door: those that `differences` does not leave out.
class Features {
  public:
    constexpr explicit Features(Door door) noexcept
        : left_out_{detail::left_out[static_cast<std::size_t>(door)]} {}
    [[nodiscard]] constexpr bool has(Feature feature) const noexcept {
        return (left_out_ & detail::bit(feature)) == 0;
    }
    // True if the door applies every limit, also caps and limits that the response settles.
    [[nodiscard]] constexpr bool has_all_limits() const noexcept {
        return has(Feature::concurrency_limit) && has(Feature::settlement);
    }

  private:
    std::uint32_t left_out_;
};

} // namespace stint::admission
