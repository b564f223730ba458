#include "runtime/worker_updates.hpp"

#include <map>
#include <string>
#include <utility>

namespace stint::runtime {
namespace {

// Returns the role of each listener, by the address as configured.
std::map<std::string, ListenerRole> roles_of(const LoadedConfig& loaded) {
    std::map<std::string, ListenerRole> roles;
    for (const config::Listener& listener : loaded.config.listeners)
        roles[listener.address.text].options = {
            listener.half_close_allowed, listener.proxy_protocol,
            listener.https_port,         loaded.tls.listener(listener.address.text),
            listener.http2.h2c,          listener.http2.bounds};
    if (loaded.config.permits) {
        const std::string& address = loaded.config.permits->address.text;
        roles[address] = {
            .options =
                {.tls = loaded.tls.listener(address),
                 .http2_prior_knowledge = loaded.config.permits->http2.h2c,
                 .http2 = loaded.config.permits->http2.bounds},
            .permits = true};
    }
    return roles;
}

} // namespace

SlotCounts counts_of(const observe::MetricSlots& slots) {
    return {
        slots.routes().size(), slots.refusals().size(), slots.upstreams().size(),
        slots.waits().size()};
}

WorkerUpdate update_for(
    std::size_t worker,
    std::size_t workers,
    const LoadedConfig& loaded,
    const Compiled& compiled,
    const observe::MetricSlots& slots,
    ListenerSet::Opened& opened) {
    WorkerUpdate update{compiled.snapshot, counts_of(slots), {}, roles_of(loaded)};
    for (auto& [name, sockets] : opened)
        for (std::size_t i = worker; i < sockets.sockets.size(); i += workers)
            update.opened.push_back({name, sockets.address, std::move(sockets.sockets[i])});
    return update;
}

void renumber_queues(WorkerPool& pool, std::vector<ConfiguredLimit> limits) {
    pool.post([limits = std::move(limits)](proxy::Context& context) {
        for (const ConfiguredLimit& limit : limits)
            context.wakeups.queue().update_quota(
                *limit.limit, [&](const auto& key) { return limit.numbers_for(key); },
                limit.enforce);
    });
}

} // namespace stint::runtime
