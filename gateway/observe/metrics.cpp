#include "observe/metrics.hpp"

#include <algorithm>
#include <cstddef>

namespace stint::observe {

namespace {

void add(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
    for (std::size_t i = 0; i < more.size(); ++i)
        sum[i] += more[i];
}

template <class Slots, class Key, class Name>
std::uint32_t slot_of(Slots& slots, std::vector<Name>& names, const Key& key) {
    const auto [found, is_new] = slots.try_emplace(key, static_cast<std::uint32_t>(names.size()));
    if (is_new)
        names.push_back(key);
    return found->second;
}

template <class Slots>
std::optional<std::uint32_t> known_slot(const Slots& slots, const std::string& name) {
    const auto found = slots.find(name);
    return found == slots.end() ? std::nullopt : std::optional{found->second};
}

} // namespace

void Histogram::observe(Duration duration) noexcept {
    // Divides instead of multiplying, so that 5 ms is exactly the double of the bound 0.005.
    const double seconds = static_cast<double>(std::max(duration, Duration::zero()).count()) / 1e9;
    const auto bound = std::lower_bound(latency_bounds.begin(), latency_bounds.end(), seconds);
    ++buckets[static_cast<std::size_t>(bound - latency_bounds.begin())];
    sum_seconds += seconds;
}

Histogram& Histogram::operator+=(const Histogram& more) noexcept {
    for (std::size_t i = 0; i < buckets.size(); ++i)
        buckets[i] += more.buckets[i];
    sum_seconds += more.sum_seconds;
    return *this;
}

DryRunCounters& DryRunCounters::operator+=(const DryRunCounters& more) noexcept {
    would_refuse += more.would_refuse;
    would_wait += more.would_wait;
    return *this;
}

RouteCounters& RouteCounters::operator+=(const RouteCounters& more) noexcept {
    for (std::size_t outcome = 0; outcome < requests.size(); ++outcome)
        for (std::size_t status = 0; status < requests[outcome].size(); ++status)
            requests[outcome][status] += more.requests[outcome][status];
    in_flight += more.in_flight;
    bytes_in += more.bytes_in;
    bytes_out += more.bytes_out;
    return *this;
}

UpstreamCounters& UpstreamCounters::operator+=(const UpstreamCounters& more) noexcept {
    latency += more.latency;
    connects += more.connects;
    connect_failures += more.connect_failures;
    reused += more.reused;
    retries += more.retries;
    retries_over_budget += more.retries_over_budget;
    idle += more.idle;
    in_flight += more.in_flight;
    return *this;
}

WaitCounters& WaitCounters::operator+=(const WaitCounters& more) noexcept {
    time += more.time;
    refused += more.refused;
    return *this;
}

void WorkerCounters::fit(
    std::size_t route_slots,
    std::size_t refusal_slots,
    std::size_t upstream_slots,
    std::size_t wait_slots) {
    routes.grow(route_slots);
    for (auto* const by_limit :
         {&refusals, &denied, &fenced_off, &exempted, &overruns, &granted, &replayed})
        by_limit->resize(std::max(by_limit->size(), refusal_slots));
    dry_runs.resize(std::max(dry_runs.size(), refusal_slots));
    upstreams.resize(std::max(upstreams.size(), upstream_slots));
    waits.resize(std::max(waits.size(), wait_slots));
}

WorkerCounters& WorkerCounters::operator+=(const WorkerCounters& other) {
    fit(other.routes.size(), other.refusals.size(), other.upstreams.size(), other.waits.size());
    routes += other.routes;
    add(refusals, other.refusals);
    add(denied, other.denied);
    add(fenced_off, other.fenced_off);
    add(exempted, other.exempted);
    for (std::size_t i = 0; i < other.dry_runs.size(); ++i)
        dry_runs[i] += other.dry_runs[i];
    add(overruns, other.overruns);
    add(granted, other.granted);
    add(replayed, other.replayed);
    for (std::size_t i = 0; i < other.upstreams.size(); ++i)
        upstreams[i] += other.upstreams[i];
    for (std::size_t i = 0; i < other.waits.size(); ++i)
        waits[i] += other.waits[i];
    connections_accepted += other.connections_accepted;
    connections_rejected += other.connections_rejected;
    rejected_per_client += other.rejected_per_client;
    slow_heads += other.slow_heads;
    slow_bodies += other.slow_bodies;
    shed_clients += other.shed_clients;
    shed_upstreams += other.shed_upstreams;
    connections_open += other.connections_open;
    tls_handshakes += other.tls_handshakes;
    tls_resumed += other.tls_resumed;
    tls_failures += other.tls_failures;
    tls_plain_http += other.tls_plain_http;
    tunnels_open += other.tunnels_open;
    accept_errors += other.accept_errors;
    proxy_untrusted += other.proxy_untrusted;
    proxy_malformed += other.proxy_malformed;
    permit_connections += other.permit_connections;
    permits_waiting += other.permits_waiting;
    permit_waits += other.permit_waits;
    lock_waits += other.lock_waits;
    for (std::size_t i = 0; i < tickets.size(); ++i)
        tickets[i] += other.tickets[i];
    http2_connections += other.http2_connections;
    for (std::size_t i = 0; i < http2_glitches.size(); ++i)
        http2_glitches[i] += other.http2_glitches[i];
    return *this;
}

std::uint32_t MetricSlots::route(const std::string& name) {
    return slot_of(route_slots_, routes_, name);
}

std::uint32_t MetricSlots::refusal(const std::string& route, const std::string& limit) {
    return slot_of(refusal_slots_, refusals_, std::pair{route, limit});
}

std::uint32_t MetricSlots::upstream(const std::string& name) {
    return slot_of(upstream_slots_, upstreams_, name);
}

std::uint32_t MetricSlots::wait(const std::string& limit) {
    return slot_of(wait_slots_, waits_, limit);
}

std::optional<std::uint32_t> MetricSlots::route_slot(const std::string& name) const {
    return known_slot(route_slots_, name);
}

std::optional<std::uint32_t> MetricSlots::upstream_slot(const std::string& name) const {
    return known_slot(upstream_slots_, name);
}

} // namespace stint::observe
