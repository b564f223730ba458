// Chooses an upstream's endpoint for a request, and counts failures against it.
#include "upstream/cluster.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace stint::upstream {

Cluster::Cluster(
    const routing::UpstreamSpec& spec,
    std::vector<std::shared_ptr<Pool>> pools,
    std::shared_ptr<std::uint32_t> own_in_flight)
    : balance_{spec.balance},
      candidates_(spec.endpoints.size()), balancer_{spec.balance.how, spec.endpoints.size()} {
    if (!balance_.group) [[unlikely]]
        balance_.group = std::make_shared<EndpointGroup>();
    for (std::size_t i = 0; i < spec.endpoints.size(); ++i) {
        const routing::EndpointSpec& endpoint = spec.endpoints[i];
        states_.push_back(
            endpoint.state ? endpoint.state : balance_.group->endpoint(endpoint.text));
        members_.push_back(
            {std::move(pools[i]), states_.back(), i, stable_hash(endpoint.text), endpoint.weight,
             endpoint.max_requests, own_in_flight});
        if (endpoint.max_requests > 0)
            queue_ = &balance_.group->queue();
    }
    if (members_.size() == 1 && queue_ == nullptr)
        only_ = &members_.front();
}

std::size_t Cluster::idle() const noexcept {
    std::size_t total = 0;
    for (const Member& member : members_)
        total += member.pool->idle();
    return total;
}

// Returns the endpoints that are up. If none is up and fail_open is set, returns those that no
// operator has drained.
EndpointMask Cluster::willing(SteadyTime now) const noexcept {
    EndpointMask up = 0;
    EndpointMask not_drained = 0;
    for (const Member& member : members_) {
        up |= member.state->up(now) ? member.bit() : 0;
        not_drained |= member.state->drained() ? 0 : member.bit();
    }
    return up == 0 && balance_.fail_open ? not_drained : up;
}

std::uint64_t Cluster::weight_of(const Member& member, SteadyTime now) const noexcept {
    constexpr std::uint64_t whole = 1000;
    return member.weight * (balance_.slow_start > Duration::zero()
                                ? slow_share(member.state->back_since(), balance_.slow_start, now)
                                : whole);
}

// Another worker may take the last free slot of the chosen endpoint before charge() does: then
// chooses again among the remaining endpoints.
Cluster::Choice
Cluster::choose(SteadyTime now, std::uint64_t key, EndpointMask not_these) noexcept {
    const EndpointMask asked = willing(now) & ~not_these;
    for (EndpointMask left = asked; left != 0;) {
        for (const Member& member : members_) {
            const std::uint32_t in_flight = member.state->in_flight();
            const bool has_room = member.max_requests == 0 || in_flight < member.max_requests;
            const bool takes = (left & member.bit()) != 0 && has_room;
            candidates_[member.index] = {
                takes ? weight_of(member, now) : 0, member.seed, in_flight};
        }
        const std::size_t chosen = balancer_.choose(candidates_, key);
        if (chosen == no_endpoint)
            break;
        Member& member = members_[chosen];
        if (only_ != nullptr)
            return {&member, InFlightToken{*member.own_in_flight}};
        if (member.state->charge(member.max_requests))
            return {&member, InFlightToken{*member.state, queue_}};
        left &= ~member.bit();
    }
    return {nullptr, {}, asked != 0};
}

void Cluster::failed(Member& member, std::string_view why, SteadyTime now) noexcept {
    const std::uint32_t in_a_row = member.state->note_failure(why);
    const routing::EjectionRules& rules = balance_.ejection;
    if (rules.failures == 0 || in_a_row < rules.failures || size() == 1)
        return;
    if (!balance_.group->eject(*member.state, states_, rules, now))
        return;
    const auto length = member.state->ejected_until() - now;
    spdlog::warn(
        "{} is taken out for {} ms after {} failures in a row, the last: {}", member.state->text(),
        ceil_ms(length), in_a_row, why);
}

Duration Cluster::back_in(SteadyTime now) const noexcept {
    Duration soonest = Duration::max();
    for (const EndpointStatePtr& state : states_) {
        if (state->drained())
            continue;
        const SteadyTime at =
            std::max(state->ejected_until(), state->healthy() ? now : state->next_check());
        soonest = std::min(soonest, std::max(at - now, Duration::zero()));
    }
    return soonest == Duration::max() ? Duration::zero() : soonest;
}

} // namespace stint::upstream
