// Reads the keys by which a limit counts.
#include "config/fields/shared_rows.hpp"
#include "config/schema/key_sources.hpp"
#include "config/values/bounds.hpp"
#include "config/values/key_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

using Kind = KeySource::Kind;

constexpr std::string_view a_key = "a key such as client_ip, or a list of keys";

void add_source(const Value& value, std::vector<KeySource>& key) {
    const auto source = value.as(a_key, parse_key_source);
    if (!source)
        return;
    if (source->kind == Kind::permit_key)
        value.wrong("\"permit_key\" is not a part of requests; expected it as the whole key of a "
                    "named limit that no route has");
    if (std::find(key.begin(), key.end(), *source) != key.end())
        value.wrong(in_quotes(to_text(*source)) + " is listed already; remove one");
    key.push_back(*source);
}

bool is_of(const Limit& limit, Kind kind) {
    return std::any_of(limit.key.begin(), limit.key.end(), [&](const KeySource& source) {
        return source.kind == kind;
    });
}

void check_missing_key(const Section& section, const Limit& limit) {
    if (!limit.key.empty() && std::none_of(limit.key.begin(), limit.key.end(), may_be_missing))
        section.wrong_at("missing_key", "has no use: every request has this key");
    if (limit.missing_key == Limit::MissingKey::partial && limit.key.size() == 1)
        section.wrong_at(
            "missing_key", "partial is for a key of several sources; expected share, exempt or "
                           "refuse");
}

} // namespace

void read_key_sources(const Value& value, std::vector<KeySource>& key) {
    if (value.is_scalar())
        return add_source(value, key);
    const auto items = value.items(a_key);
    if (!items)
        return;
    if (items->empty())
        value.wrong("is empty; expected at least one key (without key: one counter for all)");
    for (const Value& item : *items)
        add_source(item, key);
    if (items->size() > most_key_sources)
        value.wrong("has more than " + std::to_string(most_key_sources) + " parts");
}

void check_subjects(const Section& section, std::string_view key, const LoadState& loading) {
    const auto value = section.find(key);
    if (!value || loading.asks_for_certificates)
        return;
    const auto check = [](const Value& source) {
        if (source.is_scalar() && source.scalar(a_key) == "tls:subject")
            source.wrong("\"tls:subject\" needs a listener with client_ca in its tls: without one, "
                         "no client shows a certificate");
    };
    check(*value);
    if (value->is_list())
        for (const Value& item : value->items(a_key).value_or(std::vector<Value>{}))
            check(item);
}

void read_key(const Section& section, Limit& limit, LoadState& loading) {
    const auto key = section.find("key");
    if (key && key->is_scalar() && key->scalar(a_key) == "permit_key" && limit.route.empty())
        limit.key.push_back({Kind::permit_key, {}});
    else if (key)
        read_key_sources(*key, limit.key);
    for (const std::string_view each : {"max_keys", "missing_key", "ipv4_prefix", "ipv6_prefix"})
        read_field(section, limit_fields(), each, limit, loading);
    check_missing_key(section, limit);
    for (const std::string_view each : {"max_keys", "missing_key"})
        if (!key)
            section.wrong_at(each, "is only for a limit with a key, such as key: client_ip");
    const bool by_address = !key || limit.key.empty() ? false : is_of(limit, Kind::client_ip);
    const bool key_is_wrong = key && limit.key.empty();
    for (const std::string_view each : {"ipv4_prefix", "ipv6_prefix"})
        if (!by_address && !key_is_wrong)
            section.wrong_at(each, "is only for a limit with client_ip in its key");
}

Shown shown_sources(const std::vector<KeySource>& sources) {
    Shown::List list;
    for (const KeySource& source : sources)
        list.emplace_back(to_text(source));
    return list.size() == 1 ? list.front() : Shown{std::move(list)};
}

} // namespace stint::config
