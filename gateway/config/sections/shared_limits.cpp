// Reads `shared` of limits: the store in which gateways divide them.
#include "config/fields/limit_rows.hpp"
#include "config/values/text_check.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace stint::config {

namespace {

constexpr std::string_view a_shared = "a store's name, or a map such as {store: main}";
constexpr std::array<std::string_view, 3> failure_words{"share", "open", "closed"};
// The store remembers sessions that have ended for 40 days: what they used counts for `per`.
constexpr std::chrono::hours longest_shared_window = longest_shared_refill;

constexpr std::array<std::string_view, 2> lock_failure_words{"share", "closed"};

using SharedRow = Fields<SharedLimit>;
constexpr FieldOf<SharedLimit> store_row = SharedRow::other(
    {.key = "store",
     .about = "The store, by its name under `stores`.",
     .expected = "a store's name",
     .required = true},
    {.kind = FieldType::Kind::text, .name = "name of a store"},
    nullptr,
    [](const Field& field, const SharedLimit& shared, const Config& config, Shown::Map& members) {
        if (shared.store < config.stores.size())
            add(members, field.key, config.stores[shared.store].name);
    });

constexpr std::array shared_table{
    store_row,
    SharedRow::word<&SharedLimit::on_store_failure>(
        {.key = "on_store_failure",
         .about = "While the store is gone: each gateway uses the shares that it holds; open: and "
                  "counts alone where it holds too little; closed: admits nothing.",
         .expected = "share, open or closed"},
        failure_words),
};

// A lock that each gateway granted alone would have several holders.
Parsed<SharedLimit::OnStoreFailure> parse_lock_failure(std::string_view text) {
    if (text == "open")
        return ParseError{
            "\"open\" is for limits: a lock that each gateway grants alone has several holders; "
            "expected share or closed"};
    if (text == "closed")
        return SharedLimit::OnStoreFailure::closed;
    if (text == "share")
        return SharedLimit::OnStoreFailure::share;
    return ParseError{in_quotes(text) + " is unknown; expected share or closed"};
}

constexpr std::array lock_shared_table{
    store_row,
    SharedRow::other(
        {.key = "on_store_failure",
         .about = "While the store is gone: a gateway that has a share of the lock grants and "
                  "renews leases of it until its session ends; closed: nobody does.",
         .expected = "share or closed"},
        {.kind = FieldType::Kind::word, .words = lock_failure_words},
        [](const Field& field, const Value& value, SharedLimit& shared, LoadState&) {
            value.into(shared.on_store_failure, field.expected, parse_lock_failure);
        },
        [](const Field& field, const SharedLimit& shared, const Config&, Shown::Map& members) {
            const bool closed = shared.on_store_failure == SharedLimit::OnStoreFailure::closed;
            add(members, field.key, closed ? "closed" : "share");
        }),
};

void read_store_name(const Value& value, SharedLimit& shared, const LoadState& loading) {
    if (const auto store = find_store(value, loading.config))
        shared.store = *store;
}

void read_terms(
    const Value& value, Table<SharedLimit> fields, SharedLimit& shared, LoadState& loading) {
    if (value.is_scalar()) {
        read_store_name(value, shared, loading);
    } else if (const auto map = open_section(value, fields, a_shared)) {
        if (const auto name = map->require("store", "a store's name"))
            read_store_name(*name, shared, loading);
        read_fields(*map, fields, shared, loading);
    }
}

// A quota of 0 is a mistake that is reported already.
bool refills_while_remembered(const Limit& limit) {
    const auto refills = [&](std::uint64_t burst, std::uint64_t quota) {
        return quota == 0 || refills_within(longest_shared_refill, burst, quota, limit.per);
    };
    return refills(limit.burst, limit.quota) &&
           std::ranges::all_of(limit.overrides, [&](const Override& each) {
               return refills(each.burst > 0 ? each.burst : limit.burst, each.quota);
           });
}

} // namespace

std::optional<std::size_t> find_store(const Value& value, const Config& config) {
    const auto name = value.scalar("a store's name");
    if (!name)
        return std::nullopt;
    const auto& stores = config.stores;
    const auto found = std::ranges::find(stores, *name, &Store::name);
    if (found != stores.end())
        return static_cast<std::size_t>(found - stores.begin());
    std::string known;
    for (const Store& store : stores)
        known.append(known.empty() ? "" : ", ").append(in_quotes(store.name));
    value.wrong(
        in_quotes(*name) + " is not a store; expected " +
        (known.empty() ? "a name under stores: which this file does not have" : known));
    return std::nullopt;
}

Table<SharedLimit> shared_fields() {
    return shared_table;
}

Table<SharedLimit> lock_shared_fields() {
    return lock_shared_table;
}

void read_lock_shared(const Section& section, Limit& limit, LoadState& loading) {
    if (const auto value = section.find("shared"))
        read_terms(*value, lock_shared_fields(), limit.shared.emplace(), loading);
}

void show_lock_shared(
    const Field& field, const Limit& limit, const Config& config, Shown::Map& members) {
    if (limit.shared)
        add(members, field.key, shown(lock_shared_fields(), *limit.shared, config));
}

void read_shared(const Section& section, Limit& limit, LoadState& loading) {
    const auto value = section.find("shared");
    if (!value)
        return;
    read_terms(*value, shared_fields(), limit.shared.emplace(), loading);
    if (limit.per > longest_shared_window)
        value->wrong("needs a per of at most 31d: the store forgets sooner what a gateway that has "
                     "ended had used; expected a shorter window, or no shared");
    else if (!refills_while_remembered(limit))
        value->wrong(
            "needs a bucket that is full again within 31d: the store forgets sooner what a "
            "gateway that has ended had used; expected a lower burst, or no shared");
    if (!limit.reserve_for.empty())
        value->wrong("excludes retry_after: reserve: a slot in a coming window cannot be promised "
                     "of a share that may be smaller then; expected when_exceeded: wait");
}

void show_shared(
    const Field& field, const Limit& limit, const Config& config, Shown::Map& members) {
    if (limit.shared)
        add(members, field.key, shown(shared_fields(), *limit.shared, config));
}

} // namespace stint::config
