#include "locks/saved_lease.hpp"

#include "base/bytes.hpp"

#include <cstdint>

namespace stint::locks {
namespace {

constexpr std::uint8_t format = 1;

void put_hash(std::string& out, Hash128 hash) {
    put(out, hash.high);
    put(out, hash.low);
}

Hash128 take_hash(ByteReader& from) {
    const auto high = from.take<std::uint64_t>();
    return {high, from.take<std::uint64_t>()};
}

} // namespace

std::string row_key(Hash128 id) {
    std::string key;
    put_hash(key, id);
    return key;
}

std::string row_value(const SavedLease& lease) {
    std::string value;
    put(value, format);
    put_text(value, lease.lock);
    put(value, lease.max);
    put(value, lease.fence);
    put(value, lease.ttl.count());
    put(value, static_cast<std::uint8_t>(lease.binding));
    put_text(value, lease.owner);
    put(value, lease.since.time_since_epoch().count());
    put_hash(value, lease.reentrant);
    put(value, static_cast<std::uint32_t>(lease.onces.size()));
    for (const Hash128 once : lease.onces)
        put_hash(value, once);
    return value;
}

std::optional<SavedLease> read_row(std::string_view key, std::string_view value) {
    ByteReader id{key};
    ByteReader from{value};
    if (from.take<std::uint8_t>() != format)
        return std::nullopt;
    SavedLease lease;
    lease.id = take_hash(id);
    lease.lock = from.take_text();
    lease.max = from.take<std::uint64_t>();
    lease.fence = from.take<std::uint64_t>();
    lease.ttl = Duration{from.take<Duration::rep>()};
    const auto binding = from.take<std::uint8_t>();
    lease.binding = static_cast<LeaseBinding>(binding);
    lease.owner = from.take_text();
    lease.since = WallTime{Duration{from.take<Duration::rep>()}};
    lease.reentrant = take_hash(from);
    const auto levels = from.take<std::uint32_t>();
    if (levels == 0)
        return std::nullopt;
    for (std::uint32_t i = 0; i < levels && from.good(); ++i)
        lease.onces.push_back(take_hash(from));
    const bool whole = id.good() && id.rest().empty() && from.good() && from.rest().empty();
    const bool sound = lease.max > 0 && lease.ttl > Duration::zero() &&
                       binding <= static_cast<std::uint8_t>(LeaseBinding::stream) &&
                       !lease.lock.empty();
    return whole && sound ? std::optional{lease} : std::nullopt;
}

} // namespace stint::locks
