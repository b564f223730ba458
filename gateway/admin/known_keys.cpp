#include "admin/known_keys.hpp"

#include "net/event.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

namespace stint::admin {
namespace {

using proxy::RecentRequests;

// Collects from several threads.
struct Collection {
    limits::LimitPtr limit;
    std::vector<Hash128> keys; // sorted
    std::mutex mutex;
    KnownKeys known;
};

const limits::HeavyHitters*
heavy_hitters_in(const proxy::Context& context, const limits::LimitPtr& limit) {
    const auto& limits = context.active->snapshot->limits;
    for (std::size_t i = 0; i < limits.size(); ++i)
        if (limits[i]->limit == limit && limit->keyed())
            return &context.active->heavy_hitters_of(static_cast<std::uint32_t>(i));
    return nullptr;
}

void collect(Collection& into, const proxy::Context& context) {
    const std::lock_guard lock{into.mutex};
    if (const limits::HeavyHitters* const heavy = heavy_hitters_in(context, into.limit))
        for (const Hash128 key : into.keys)
            if (const auto entry = heavy->find(key))
                into.known.texts.try_emplace(key, std::string{entry->text}, entry->cut);
    context.recent.visit_newest([&](const RecentRequests::Record& record) {
        const auto keys = std::span{record.keys}.first(record.key_count);
        const auto concerns = [&](const RecentRequests::Key& key) {
            return std::ranges::binary_search(into.keys, key.hash);
        };
        if (std::ranges::any_of(keys, concerns))
            into.known.requests.push_back(record);
    });
}

net::Task<KnownKeys>
collected(runtime::Gateway& gateway, limits::LimitPtr limit, std::vector<Hash128> keys) {
    const auto collection = std::make_shared<Collection>();
    collection->limit = std::move(limit);
    collection->keys = std::move(keys);
    gateway.pool().post([collection](proxy::Context& context) { collect(*collection, context); });
    net::Event done;
    gateway.pool().await_posted([&] { done.signal(); });
    co_await done.wait();
    co_return std::move(collection->known);
}

} // namespace

net::Task<KnownKeys>
known_keys(runtime::Gateway& gateway, limits::LimitPtr limit, std::vector<Hash128> keys) {
    return collected(gateway, std::move(limit), std::move(keys));
}

} // namespace stint::admin
