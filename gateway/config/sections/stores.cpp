// Reads `stores`.
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
constexpr std::string_view a_sentinel =
    "a map such as {master: mymaster, servers: [10.0.0.1:26379]}";
constexpr milliseconds longest_timeout{1'000};
constexpr milliseconds shortest_session{500};
constexpr milliseconds shortest_failover_session{5'000}; // the servers agree on a primary first
constexpr milliseconds longest_session{600'000};

bool is_name_in_store(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

std::optional<StoreServer> server_in(const Value& value, std::string_view expected) {
    auto endpoint = value.as(expected, parse_endpoint);
    if (!endpoint)
        return std::nullopt;
    if (endpoint->is_unix || endpoint->tls) {
        value.wrong("is no address of a store; expected " + std::string{expected});
        return std::nullopt;
    }
    return StoreServer{std::move(endpoint->host), endpoint->port, std::move(endpoint->text)};
}

void read_server(const Field& field, const Value& value, Store& store, LoadState&) {
    if (auto server = server_in(value, field.expected))
        store.redis = std::move(*server);
}

void read_servers(const Field& field, const Value& value, std::vector<StoreServer>& servers) {
    const auto items = value.items(field.expected);
    if (items && items->empty())
        value.wrong("is empty; expected " + std::string{field.expected});
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        auto server = server_in(item, "an address such as 10.0.0.1:6379");
        if (!server)
            continue;
        if (std::ranges::find(servers, server->text, &StoreServer::text) != servers.end())
            item.wrong(in_quotes(server->text) + " is listed already; remove one");
        servers.push_back(std::move(*server));
    }
}

template <class S, auto M>
constexpr FieldOf<S> servers_row(const Field& field) {
    return Fields<S>::other(
        field,
        {.kind = FieldType::Kind::text, .is_list = true, .name = "address, or name and port"},
        [](const Field& of, const Value& value, S& section, LoadState&) {
            read_servers(of, value, std::invoke(M, section));
        },
        [](const Field& of, const S& section, const Config&, Shown::Map& members) {
            Shown::List list;
            for (const StoreServer& server : std::invoke(M, section))
                list.push_back(Shown{server.text});
            if (!list.empty())
                add(members, of.key, std::move(list));
        });
}

template <class S, auto M>
constexpr FieldOf<S>
secret_row(std::string_view key, std::string_view about, std::string_view expected) {
    return Fields<S>::other(
        {.key = key, .about = about, .expected = expected, .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        [](const Field& field, const Value& value, S& section, LoadState& loading) {
            read_token_file(field, value, std::invoke(M, section), loading);
        },
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            if (!std::invoke(M, section).empty())
                add(members, field.key, absolute_file(std::invoke(M, section)));
        });
}

template <class S>
constexpr FieldOf<S> tls_row(std::string_view about) {
    return Fields<S>::map(
        {.key = "tls",
         .about = about,
         .expected = "a map such as {ca: own-ca.pem}",
         .otherwise = "none"},
        "map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_upstream_tls(value, loading, section.tls.emplace());
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            if (section.tls)
                add(members, field.key, shown(upstream_tls_fields(), *section.tls, config));
        });
}

using SentinelRow = Fields<StoreSentinel>;
constexpr std::array sentinel_table{
    SentinelRow::text<&StoreSentinel::master, parse_name_in_store>(
        {.key = "master",
         .about = "The Sentinels' name of the servers.",
         .expected = "a name such as mymaster",
         .required = true},
        "name"),
    servers_row<StoreSentinel, &StoreSentinel::servers>(
        {.key = "servers",
         .about = "All Sentinels, or a majority of them at least.",
         .expected = "a list of addresses such as [10.0.0.1:26379, 10.0.0.2:26379, "
                     "10.0.0.3:26379]",
         .required = true}),
    SentinelRow::text<&StoreSentinel::username, parse_name_in_store>(
        {.key = "username",
         .about = "The user of AUTH at the Sentinels.",
         .expected = "a name",
         .otherwise = "the Sentinels' default user"},
        "name"),
    secret_row<StoreSentinel, &StoreSentinel::password_file>(
        "password_file",
        "A file with the password of AUTH at the Sentinels.",
        "the path of a file with a password"),
    tls_row<StoreSentinel>("TLS to the Sentinels, as the server's."),
};

// Reads `sentinel`, and requires either it, `cluster` or `redis`.
void read_place(const Section& section, Store& store, LoadState& loading) {
    constexpr std::array<std::string_view, 3> places{"redis", "sentinel", "cluster"};
    std::string_view first;
    for (const std::string_view each : places) {
        if (!section.find(each))
            continue;
        if (!first.empty())
            section.wrong_at(each, "excludes " + std::string{first} + "; keep one of them");
        first = each;
    }
    if (first.empty())
        section.value().wrong("redis is missing; expected an address such as 127.0.0.1:6379");
    const auto sentinel = section.find("sentinel");
    if (!sentinel)
        return;
    StoreSentinel& of = store.sentinel.emplace();
    if (const auto map = open_section(*sentinel, sentinel_fields(), a_sentinel))
        read_fields(*map, sentinel_fields(), of, loading);
}

void check_session(const Section& section, const Store& store) {
    const bool fails_over = store.sentinel.has_value() || !store.cluster.empty();
    if (fails_over && store.session < shortest_failover_session)
        section.wrong_at(
            "session", "is shorter than a failover takes; expected at least 5s with sentinel or "
                       "cluster");
    else if (store.timeout > store.session / 5)
        section.wrong_at(
            section.find("timeout") ? "timeout" : "session",
            section.find("timeout") ? "is too long for the session; expected at most a fifth of it"
                                    : "is too short for the timeout; expected five times as long");
}

using StoreRow = Fields<Store>;
constexpr std::array store_table{
    StoreRow::other(
        {.key = "redis",
         .about = "The server: Redis from 7.0, or Valkey.",
         .expected = "an address such as 127.0.0.1:6379",
         .otherwise = "*required* without `sentinel` or `cluster`"},
        {.kind = FieldType::Kind::text, .name = "address, or name and port"},
        &read_server,
        [](const Field& field, const Store& store, const Config&, Shown::Map& members) {
            if (!store.redis.text.empty())
                add(members, field.key, store.redis.text);
        }),
    StoreRow::map(
        {.key = "sentinel",
         .about = "Instead of redis: Sentinels that name the server.",
         .expected = a_sentinel,
         .otherwise = "none"},
        "map",
        nullptr,
        [](const Field& field, const Store& store, const Config& config, Shown::Map& members) {
            if (store.sentinel)
                add(members, field.key, shown(sentinel_fields(), *store.sentinel, config));
        }),
    servers_row<Store, &Store::cluster>(
        {.key = "cluster",
         .about = "Instead of redis: nodes of a Redis Cluster, through which the others are found.",
         .expected = "a list of addresses such as [10.0.0.1:6379, 10.0.0.2:6379, 10.0.0.3:6379]",
         .otherwise = "none"}),
    tls_row<Store>("TLS to the server: a map as an upstream's, {} for the system's certificates."),
    StoreRow::text<&Store::username, parse_name_in_store>(
        {.key = "username",
         .about = "The user of AUTH.",
         .expected = "a name",
         .otherwise = "the server's default user"},
        "name"),
    secret_row<Store, &Store::password_file>(
        "password_file", "A file with the password of AUTH.", "the path of a file with a password"),
    StoreRow::text<&Store::prefix, parse_name_in_store>(
        {.key = "prefix",
         .about = "The beginning of all names that Stint uses in the store.",
         .expected = "a name such as stint"},
        "name"),
    secret_row<Store, &Store::secret_file>(
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

} // namespace

// A part of keys in the store must not change where a key begins or ends.
Parsed<std::string> parse_name_in_store(std::string_view text) {
    if (!is_name_in_store(text))
        return ParseError{
            in_quotes(text) + " is no such name; expected up to 64 letters, digits, -, _ and ."};
    return std::string{text};
}

Table<StoreSentinel> sentinel_fields() {
    return sentinel_table;
}

Table<Store> store_fields() {
    return store_table;
}

void read_stores(const Value& value, LoadState& loading) {
    const auto entries =
        value.entries("a map of stores by name such as {main: {redis: 127.0.0.1:6379}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (const auto name = parse_name(entry.name); !name)
            entry.key.wrong(name.error().why);
        Store store;
        store.name = std::string{entry.name};
        if (const auto section = open_section(entry.value, store_fields(), a_store)) {
            read_fields(*section, store_fields(), store, loading);
            read_place(*section, store, loading);
            check_session(*section, store);
        }
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

} // namespace stint::config
