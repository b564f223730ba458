// Reads how a route refers to limits and locks that are defined elsewhere.
#include "base/lock_names.hpp"
#include "config/fields/limit_rows.hpp"
#include "config/values/unit_aliases.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace stint::config {

namespace {

constexpr std::string_view lock_key = "lock";
constexpr std::string_view limit_key = "limit";
constexpr std::string_view own_status_key = "status";

constexpr std::array reference_table{
    Fields<Route>::other(
        {.key = lock_key,
         .about = "The name of a lock, whose slots the route's requests take. Excludes the others.",
         .expected = "a lock's name",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "name of a lock"},
        nullptr,
        nullptr),
    Fields<Route>::other(
        {.key = limit_key,
         .about = "The name of a limit.",
         .expected = "a limit's name",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "name of a limit"},
        nullptr,
        nullptr),
    Fields<Route>::other(
        {.key = own_status_key,
         .about = "Status of the limit's refusals on this route.",
         .expected = status_row.expected,
         .otherwise = "the limit's"},
        status_row.type,
        nullptr,
        nullptr),
};

// Reads {lock: NAME}. Returns the lock's index in Config::limits; nullopt after reporting an error.
std::optional<std::size_t> read_lock_reference(const Value& item, const LoadState& loading) {
    const Table<Route> rows = rows_before(reference_fields(), limit_key);
    const auto section = open_section(item, rows, "a map such as {lock: product}");
    const auto value = section ? section->find(lock_key) : std::nullopt;
    const auto name = value ? value->scalar(rows.front().expected) : std::nullopt;
    return name ? find_name(*value, *name, loading.locks, "a lock") : std::nullopt;
}

bool has_key(const Value& item, std::string_view key) {
    const auto entries = item.entries("a map");
    return std::ranges::any_of(
        *entries, [&](const Value::Named& entry) { return entry.name == key; });
}

// Returns an item of a route's `limits` as GET /config shows it. index: of the limit or lock in
// Config::limits.
Shown shown_reference(std::size_t index, const Route& route, const Config& config) {
    const Limit& limit = config.limits[index];
    Shown::Map reference;
    if (limit.lock) {
        add(reference, lock_key, lock_name(limit.name));
        return reference;
    }
    if (limit.route == route.name)
        return shown(limit_fields(), limit, config);
    const auto own = route.statuses.find(index);
    if (own == route.statuses.end())
        return limit.name;
    add(reference, limit_key, limit.name);
    add(reference, own_status_key, own->second);
    return reference;
}

} // namespace

Table<Route> reference_fields() {
    return reference_table;
}

bool names_limit(const Value& item) {
    return item.is_map() && (has_key(item, lock_key) || has_key(item, limit_key));
}

std::optional<std::size_t>
find_limit(const Value& value, std::string_view name, const LoadState& loading) {
    if (!loading.limits.contains(name) && loading.locks.contains(name)) {
        value.wrong(in_quotes(name) + " is a lock; expected {lock: " + std::string{name} + "}");
        return std::nullopt;
    }
    if (const std::string rate = rate_in_keys(name); !rate.empty()) {
        value.wrong(
            in_quotes(name) + " is a rate; expected the name of a limit, or a map with " + rate);
        return std::nullopt;
    }
    return find_name(value, name, loading.limits, "a limit");
}

std::optional<std::size_t>
read_limit_reference(const Value& item, Route& route, const LoadState& loading) {
    if (has_key(item, lock_key))
        return read_lock_reference(item, loading);
    const Table<Route> rows = rows_from(reference_fields(), limit_key);
    const auto section = open_section(item, rows, "a map such as {limit: per_client, status: 503}");
    const auto value = section ? section->find(limit_key) : std::nullopt;
    const auto name = value ? value->scalar(rows.front().expected) : std::nullopt;
    const auto index = name ? find_limit(*value, *name, loading) : std::nullopt;
    const auto status = section ? section->find(own_status_key) : std::nullopt;
    if (!status)
        return index;
    const auto own = status->as(status_row.expected, [](std::string_view text) {
        return number_of_type(text, status_row.type);
    });
    if (index && own)
        route.statuses.emplace(*index, static_cast<int>(*own));
    return index;
}

void show_route_limits(
    const Field& field, const Route& route, const Config& config, Shown::Map& to) {
    Shown::List limits;
    for (const std::size_t index : route.limits)
        limits.push_back(shown_reference(index, route, config));
    add(to, field.key, std::move(limits));
}

} // namespace stint::config
