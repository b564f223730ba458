// Reads locks: concurrency limits whose slots clients lease. A route may hold a lock's slot during
// a request, or check fencing numbers against the lock.
#include "base/lock_names.hpp"
#include "config/fields/limit_rows.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::string_view a_lock = "a map such as {max: 3}, or nothing for a mutex";
constexpr std::string_view a_lock_name = "a lock's name";

Parsed<std::uint64_t> parse_max(std::string_view text) {
    const bool zero = !text.empty() && text.find_first_not_of('0') == std::string_view::npos;
    if (zero)
        return ParseError{
            "a lock with max 0 could never be had; expected at least 1, the default (to keep "
            "everybody out for a while, hold it yourself)"};
    return parse_count(text, 1, most_concurrent);
}

using LockRow = Fields<Limit>;
constexpr std::array lock_table{
    LockRow::other(
        {.key = "max", .about = "The most holders at a time.", .expected = "a number of holders"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_concurrent},
        [](const Field& field, const Value& value, Limit& limit, LoadState&) {
            value.into(limit.quota, field.expected, parse_max);
        },
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            add(members, field.key, limit.quota);
        }),
    LockRow::other(
        {.key = "max_waiting",
         .about = "The most that are queued for it at a time: callers and proxied requests.",
         .expected = "a number of waiters"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_waiting},
        [](const Field& field, const Value& value, Limit& limit, LoadState&) {
            value.into(limit.lock->max_waiting, field.expected, [&](std::string_view text) {
                return number_of_type(text, field.type);
            });
        },
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            add(members, field.key, limit.lock->max_waiting);
        }),
    when_exceeded_row,
    max_wait_row,
    fair_by_row,
    LockRow::map(
        {.key = "shared",
         .about = "The store in which gateways share the lock: all together have `max` holders.",
         .expected = "a store's name, or a map such as {store: main}",
         .otherwise = "none: each gateway has a lock of its own"},
        "name of a store, or map",
        nullptr,
        &show_lock_shared),
    limit_headers_row,
    status_row,
    body_row,
    retry_after_jitter_row,
};

void read_lock(const Value& value, Limit& limit, LoadState& loading) {
    if (value.is_null())
        return;
    const auto section = open_section(value, lock_fields(), a_lock);
    if (!section)
        return;
    read_fields(*section, lock_fields(), limit, loading);
    if (read_wait_terms(*section, limit, loading))
        limit.wait->max_waiting = limit.lock->max_waiting; // for clients and requests alike
    read_lock_shared(*section, limit, loading);
    check_subjects(*section, "fair_by", loading);
}

} // namespace

Table<Limit> lock_fields() {
    return lock_table;
}

void read_locks(const Section& top, const Value& value, LoadState& loading) {
    if (!top.find("permits"))
        top.wrong_at(
            "locks", "needs permits: the listener where locks are asked for, such as permits: "
                     "{address: 127.0.0.1:8082}");
    const auto entries = value.entries("a map of locks by name such as {jobs: {max: 1}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (const auto name = parse_name(entry.name); !name)
            entry.key.wrong(name.error().why);
        Limit limit;
        limit.name = std::string{lock_prefix}.append(entry.name);
        limit.kind = Limit::Kind::cap;
        limit.quota = 1;
        limit.prefixes = loading.config.prefixes;
        limit.lock.emplace();
        read_lock(entry.value, limit, loading);
        const std::size_t line = entry.key.mark().line;
        loading.locks.try_emplace(
            std::string{entry.name},
            LoadState::NamedAt{add_limit(std::move(limit), loading), line});
    }
}

void show_locks(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::Map locks;
    for (const Limit& limit : config.limits)
        if (limit.lock)
            add(locks, lock_name(limit.name), shown(lock_fields(), limit, config));
    if (config.permits)
        add(members, field.key, std::move(locks));
}

void read_require_fence(const Value& value, Route& route, const LoadState& loading) {
    const auto name = value.scalar(a_lock_name);
    const auto index = name ? find_name(value, *name, loading.locks, "a lock") : std::nullopt;
    if (!index)
        return;
    if (loading.config.limits[*index].shared)
        value.wrong(
            in_quotes(*name) +
            " is shared, and another gateway may have granted a later number that this one has not "
            "heard of; expected a lock without shared, or a storage that compares the numbers");
    const std::uint64_t max = loading.config.limits[*index].quota;
    if (max > 1)
        value.wrong(
            in_quotes(*name) + " has max " + std::to_string(max) +
            ", and the number of each holder would shut the others out; expected a lock with max "
            "1");
    route.require_fence = *index;
}

} // namespace stint::config
