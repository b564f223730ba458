#include "upstream/origin.hpp"

#include <algorithm>

namespace stint::upstream {

std::vector<OriginPtr> Origins::adopt(const std::shared_ptr<const routing::Snapshot>& snapshot) {
    std::vector<Cluster> clusters = pools_.adopt(*snapshot);
    std::vector<OriginPtr> origins;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
        std::shared_ptr<const routing::UpstreamSpec> spec{
            snapshot->upstreams, &(*snapshot->upstreams)[i]};
        origins.emplace_back(new Origin{std::move(spec), std::move(clusters[i])});
    }
    return origins;
}

OriginPtr DynamicOrigins::get(
    const routing::UpstreamSpec& spec, SteadyTime now, const AddressBook* addresses) {
    auto found = origins_.find(spec.name);
    if (found == origins_.end()) {
        if (origins_.size() >= most_ && !make_room())
            return nullptr;
        found = origins_.emplace(spec.name, make(spec, addresses)).first;
    }
    found->second.used = now;
    return found->second.origin;
}

DynamicOrigins::Entry
DynamicOrigins::make(const routing::UpstreamSpec& spec, const AddressBook* addresses) const {
    Entry entry;
    for (const routing::EndpointSpec& endpoint : spec.endpoints) {
        entry.pools.push_back(
            std::make_shared<Pool>(endpoint.text, addresses_of(endpoint, addresses)));
        entry.pools.back()->set_tls(endpoint.tls, endpoint.server_name);
    }
    Cluster cluster{spec, entry.pools};
    for (std::size_t i = 0; i < entry.pools.size(); ++i)
        cluster.set_streams(i, std::make_shared<Http1StreamSource>(entry.pools[i], buffers_));
    entry.origin =
        new Origin{std::make_shared<const routing::UpstreamSpec>(spec), std::move(cluster)};
    return entry;
}

// Drops the origin that has been unused for longest. Returns false if requests hold all of them.
bool DynamicOrigins::make_room() noexcept {
    auto oldest = origins_.end();
    for (auto each = origins_.begin(); each != origins_.end(); ++each)
        if (!in_use(each->second) &&
            (oldest == origins_.end() || each->second.used < oldest->second.used))
            oldest = each;
    if (oldest == origins_.end())
        return false;
    drop(oldest);
    return true;
}

void DynamicOrigins::sweep(SteadyTime now, Duration idle) noexcept {
    for (auto each = origins_.begin(); each != origins_.end();) {
        Entry& entry = each->second;
        if (in_use(entry))
            entry.used = now;
        if (now - entry.used >= idle_for_) {
            each = drop(each);
            continue;
        }
        for (const std::shared_ptr<Pool>& pool : entry.pools)
            pool->sweep(now, idle);
        ++each;
    }
}

DynamicOrigins::Entries::iterator DynamicOrigins::drop(Entries::iterator which) noexcept {
    for (const std::shared_ptr<Pool>& pool : which->second.pools)
        pool->retire();
    return origins_.erase(which);
}

} // namespace stint::upstream
