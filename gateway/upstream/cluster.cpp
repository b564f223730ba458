#include "upstream/cluster.hpp"

#include "net/address.hpp"

namespace stint::upstream {

std::vector<Cluster> Pools::adopt(const routing::Snapshot& snapshot) {
    std::map<std::string, Entry> kept;
    std::vector<Cluster> clusters;
    std::erase_if(in_flight_, [](const auto& each) { return each.second.use_count() == 1; });
    for (const routing::UpstreamSpec& upstream : *snapshot.upstreams) {
        std::vector<std::shared_ptr<Pool>> pools;
        for (const routing::EndpointSpec& spec : upstream.endpoints) {
            // With TLS, two upstreams never share a pool for an endpoint: their TLS settings may
            // differ.
            const std::string name = spec.tls ? spec.text + ' ' + upstream.name : spec.text;
            Entry& entry = kept[name];
            if (!entry.pool) {
                const auto known = pools_.find(name);
                const bool same = known != pools_.end() && known->second.spec.tls == spec.tls &&
                                  known->second.spec.server_name == spec.server_name;
                entry = {same ? known->second.pool : make_pool(spec), spec};
            }
            pools.push_back(entry.pool);
        }
        std::shared_ptr<std::uint32_t>& in_flight = in_flight_[upstream.name];
        if (!in_flight)
            in_flight = std::make_shared<std::uint32_t>();
        Cluster& cluster = clusters.emplace_back(upstream, pools, in_flight);
        for (std::size_t i = 0; i < pools.size(); ++i)
            cluster.set_streams(i, std::make_shared<Http1StreamSource>(pools[i], buffers_));
    }
    for (auto& [name, entry] : pools_)
        if (const auto still = kept.find(name);
            still == kept.end() || still->second.pool != entry.pool)
            entry.pool->retire();
    pools_ = std::move(kept);
    return clusters;
}

std::shared_ptr<Pool> Pools::make_pool(const routing::EndpointSpec& spec) const {
    auto pool = std::make_shared<Pool>(spec.text, addresses_of(spec, book_.get()));
    pool->set_tls(spec.tls, spec.server_name);
    return pool;
}

void Pools::apply(std::shared_ptr<const AddressBook> book) {
    book_ = std::move(book);
    for (auto& [text, entry] : pools_)
        entry.pool->set_addresses(addresses_of(entry.spec, book_.get()));
}

void Pools::sweep(SteadyTime now, Duration idle) noexcept {
    for (auto& [text, entry] : pools_)
        entry.pool->sweep(now, idle);
}

void Pools::close_idle() noexcept {
    for (auto& [text, entry] : pools_)
        entry.pool->retire();
}

std::size_t Pools::close_oldest(std::size_t most) noexcept {
    std::size_t closed = 0;
    for (bool any = true; any && closed < most;) {
        any = false;
        for (auto& [text, entry] : pools_)
            if (closed < most && entry.pool->close_oldest()) {
                ++closed;
                any = true;
            }
    }
    return closed;
}

std::vector<net::Endpoint>
addresses_of(const routing::EndpointSpec& spec, const AddressBook* book) {
    std::vector<net::Endpoint> addresses;
    const Result<net::Endpoint> literal =
        spec.is_unix ? net::unix_endpoint(spec.host) : net::ip_endpoint(spec.host, spec.port);
    if (literal)
        addresses.push_back(*literal);
    if (literal || spec.is_unix)
        return addresses;
    if (book != nullptr) {
        if (const auto found = book->find(spec.host); found != book->end())
            for (const std::string& address : found->second)
                if (const Result<net::Endpoint> endpoint = net::ip_endpoint(address, spec.port))
                    addresses.push_back(*endpoint);
    }
    return addresses;
}

} // namespace stint::upstream
