// Reads `stores`, and the keys of limits that gateways share.
#include "config/fields/limit_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/text_check.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace stint::config {

namespace {

constexpr std::string_view a_store = "a map such as {redis: 127.0.0.1:6379}";
constexpr std::string_view a_shared = "a store's name, or a map such as {store: main}";
constexpr std::array<std::string_view, 3> failure_words{"share", "open", "closed"};
// The store remembers sessions that have ended for 40 days: what they used counts for `per`.
constexpr std::chrono::days longest_shared_window{31};
constexpr milliseconds longest_timeout{1'000};
constexpr milliseconds shortest_session{5'000};
constexpr milliseconds longest_session{600'000};

bool is_name_in_store(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

void read_server(const Field& field, const Value& value, Store& store, LoadState&) {
    const auto endpoint = value.as(field.expected, parse_endpoint);
    if (!endpoint)
        return;
    if (endpoint->is_unix || endpoint->tls)
        return value.wrong("is no address of a store; expected " + std::string{field.expected});
    store.host = endpoint->host;
    store.port = endpoint->port;
    store.text = endpoint->text;
}

template <auto M>
constexpr FieldOf<Store>
secret_row(std::string_view key, std::string_view about, std::string_view expected) {
    return Fields<Store>::other(
        {.key = key, .about = about, .expected = expected, .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        [](const Field& field, const Value& value, Store& store, LoadState& loading) {
            read_token_file(field, value, std::invoke(M, store), loading);
        },
        [](const Field& field, const Store& store, const Config&, Shown::Map& members) {
            if (!std::invoke(M, store).empty())
                add(members, field.key, absolute_file(std::invoke(M, store)));
        });
}

using StoreRow = Fields<Store>;
constexpr std::array store_table{
    StoreRow::other(
        {.key = "redis",
         .about = "The server: Redis from 7.0, or Valkey; a single one, without Cluster.",
         .expected = "an address such as 127.0.0.1:6379",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "address, or name and port"},
        &read_server,
        [](const Field& field, const Store& store, const Config&, Shown::Map& members) {
            add(members, field.key, store.text);
        }),
    StoreRow::map(
        {.key = "tls",
         .about = "TLS to the server: a map as an upstream's, {} for the system's certificates.",
         .expected = "a map such as {ca: own-ca.pem}",
         .otherwise = "none"},
        "map",
        [](const Field&, const Value& value, Store& store, LoadState& loading) {
            read_upstream_tls(value, loading, store.tls.emplace());
        },
        [](const Field& field, const Store& store, const Config& config, Shown::Map& members) {
            if (store.tls)
                add(members, field.key, shown(upstream_tls_fields(), *store.tls, config));
        }),
    StoreRow::text<&Store::username, parse_name_in_store>(
        {.key = "username",
         .about = "The user of AUTH.",
         .expected = "a name",
         .otherwise = "the server's default user"},
        "name"),
    secret_row<&Store::password_file>(
        "password_file", "A file with the password of AUTH.", "the path of a file with a password"),
    StoreRow::text<&Store::prefix, parse_name_in_store>(
        {.key = "prefix",
         .about = "The beginning of all names that Stint uses in the store.",
         .expected = "a name such as stint"},
        "name"),
    secret_row<&Store::secret_file>(
        "secret_file",
        "A file with a secret, the same in all gateways: without it, who reads the store can find "
        "out by trying which client a hash is of.",
        "the path of a file with a secret"),
    StoreRow::duration<&Store::timeout>(
        {.key = "timeout",
         .about = "How long a request waits for the store, if its gateway has nothing left.",
         .expected = "a duration such as 20ms"},
        milliseconds{1},
        longest_timeout),
    StoreRow::duration<&Store::session>(
        {.key = "session",
         .about = "How long the store keeps what a silent gateway holds; the same in all gateways. "
                  "Without the store a gateway uses its shares for two thirds of it.",
         .expected = "a duration such as 30s"},
        shortest_session,
        longest_session),
    StoreRow::boolean<&Store::assumes_noeviction>(
        {.key = "assume_noeviction",
         .about =
             "The server forbids CONFIG, and its maxmemory-policy is known to be noeviction."}),
};

using SharedRow = Fields<SharedLimit>;
constexpr std::array shared_table{
    SharedRow::other(
        {.key = "store",
         .about = "The store, by its name under `stores`.",
         .expected = "a store's name",
         .required = true},
        {.kind = FieldType::Kind::text, .name = "name of a store"},
        nullptr,
        [](const Field& field,
           const SharedLimit& shared,
           const Config& config,
           Shown::Map& members) {
            if (shared.store < config.stores.size())
                add(members, field.key, config.stores[shared.store].name);
        }),
    SharedRow::word<&SharedLimit::on_store_failure>(
        {.key = "on_store_failure",
         .about = "While the store is gone: each gateway uses the shares that it holds; open: and "
                  "counts alone where it holds too little; closed: admits nothing.",
         .expected = "share, open or closed"},
        failure_words),
};

// Reads the name of a store; reports an unknown one.
void read_store_name(const Value& value, SharedLimit& shared, const LoadState& loading) {
    const auto name = value.scalar("a store's name");
    if (!name)
        return;
    const auto& stores = loading.config.stores;
    const auto found = std::ranges::find(stores, *name, &Store::name);
    if (found != stores.end()) {
        shared.store = static_cast<std::size_t>(found - stores.begin());
        return;
    }
    std::string known;
    for (const Store& store : stores)
        known.append(known.empty() ? "" : ", ").append(in_quotes(store.name));
    value.wrong(
        in_quotes(*name) + " is not a store; expected " +
        (known.empty() ? "a name under stores: which this file does not have" : known));
}

} // namespace

// A part of keys in the store must not change where a key begins or ends.
Parsed<std::string> parse_name_in_store(std::string_view text) {
    if (!is_name_in_store(text))
        return ParseError{
            in_quotes(text) + " is no such name; expected up to 64 letters, digits, -, _ and ."};
    return std::string{text};
}

Table<Store> store_fields() {
    return store_table;
}

Table<SharedLimit> shared_fields() {
    return shared_table;
}

void read_stores(const Value& value, LoadState& loading) {
    const auto entries =
        value.entries("a map of stores by name such as {main: {redis: 127.0.0.1:6379}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (const auto name = parse_name(entry.name); !name)
            entry.key.wrong(name.error().why);
        Store store;
        store.name = std::string{entry.name};
        if (const auto section = open_section(entry.value, store_fields(), a_store))
            read_fields(*section, store_fields(), store, loading);
        loading.config.stores.push_back(std::move(store));
    }
}

void show_stores(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::Map stores;
    for (const Store& store : config.stores)
        add(stores, store.name, shown(store_fields(), store, config));
    if (!config.stores.empty())
        add(members, field.key, std::move(stores));
}

void read_shared(const Section& section, Limit& limit, LoadState& loading) {
    const auto value = section.find("shared");
    if (!value)
        return;
    SharedLimit& shared = limit.shared.emplace();
    if (value->is_scalar()) {
        read_store_name(*value, shared, loading);
    } else if (const auto map = open_section(*value, shared_fields(), a_shared)) {
        if (const auto name = map->require("store", "a store's name"))
            read_store_name(*name, shared, loading);
        read_fields(*map, shared_fields(), shared, loading);
    }
    if (limit.per > longest_shared_window)
        value->wrong("needs a per of at most 31d: the store forgets sooner what a gateway that has "
                     "ended had used; expected a shorter window, or no shared");
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
