#include "admin/named_limit.hpp"

#include <utility>

namespace stint::admin {
namespace {

Response no_such_key(const NamedLimit& limit) {
    return problem(
        400, "No request has such a key: the limit counts by " + limit.limit.key.text() + ".");
}

Response without_key(const NamedLimit& limit) {
    return problem(
        400, "The limit " + limit.settings.name + " has no key: it has one counter for all.");
}

} // namespace

Result<NamedLimit, Response> named_limit(const runtime::Gateway& gateway, std::string_view name) {
    const auto index = gateway.store().limit_named(name);
    if (!index)
        return problem(404, "There is no limit named \"" + std::string{name} + "\".");
    return NamedLimit{*index, gateway.config().limits[*index], gateway.compiled().limits[*index]};
}

Result<NamedLimit, Response> keyed_limit(const runtime::Gateway& gateway, std::string_view name) {
    auto limit = named_limit(gateway, name);
    if (limit && !limit->limit.limit->keyed())
        return without_key(*limit);
    return limit;
}

Result<std::string, Response> canonical_key(const NamedLimit& limit, std::string_view key) {
    if (!limit.limit.limit->keyed())
        return without_key(limit);
    auto canonical = limit.limit.key.canonical(key);
    if (!canonical)
        return no_such_key(limit);
    return std::move(*canonical);
}

Result<std::string, Response> key_or_pattern(const NamedLimit& limit, const std::string& key) {
    if (limit.limit.limit->keyed() && routing::is_glob(key))
        return key;
    auto canonical = canonical_key(limit, key);
    if (canonical && canonical->empty())
        return no_such_key(limit);
    return canonical;
}

} // namespace stint::admin
