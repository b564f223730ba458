#include "server/client_connections.hpp"

namespace stint::server {

ClientConnections::Slot ClientConnections::enter(const Hash128& client, std::size_t most) {
    Shard& shard = shards_[client.high % shards_.size()];
    const std::lock_guard lock{shard.mutex};
    const auto [entry, is_new] = shard.open.try_emplace(client, 0);
    if (entry->second >= most)
        return {};
    ++entry->second;
    return {shard, *entry}; // an entry stays where it is until it is erased
}

void ClientConnections::Slot::Leave::operator()(Counts::value_type* entry) const noexcept {
    const std::lock_guard lock{shard->mutex};
    if (--entry->second == 0)
        shard->open.erase(shard->open.find(entry->first));
}

std::size_t ClientConnections::clients() const noexcept {
    std::size_t total = 0;
    for (Shard& shard : shards_) {
        const std::lock_guard lock{shard.mutex};
        total += shard.open.size();
    }
    return total;
}

} // namespace stint::server
