// Reads `cooldown`: how requests are handled while an upstream asks for a pause (Retry-After).
#include "config/fields/shared_rows.hpp"
#include "config/values/key_values.hpp"
#include "config/values/values.hpp"

#include <array>
#include <string>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 3> scopes{"host", "route", "key"};
constexpr std::array<std::string_view, 2> when_paused{"answer", "wait"};
constexpr std::string_view a_duration = "a duration such as 30s";
constexpr std::string_view a_cooldown_key = "a key such as header:X-Api-Key, or a list of keys";

// Reads the cooldown's key: one source, or a list of sources that form one key.
void read_key(const Section& section, Cooldown& cooldown) {
    const auto add = [&](const Value& value) {
        if (const auto source = value.as(a_cooldown_key, parse_key_source))
            cooldown.key.push_back(*source);
    };
    const auto key = section.find("key");
    const bool by_key = cooldown.scope == Cooldown::Scope::key;
    if (!key) {
        if (by_key)
            section.value().wrong("scope: key needs a key, such as key: header:X-Api-Key");
        return;
    }
    if (!by_key)
        section.wrong_at("key", "is only for scope: key");
    if (key->is_scalar())
        return add(*key);
    const auto items = key->items(a_cooldown_key);
    for (const Value& item : items.value_or(std::vector<Value>{}))
        add(item);
    if (items && items->empty())
        key->wrong("is empty; expected at least one key");
}

using CooldownRow = Fields<Cooldown>;
constexpr std::array cooldown_table{
    CooldownRow::word<&Cooldown::scope>(
        {.key = "scope",
         .about = "Requests that are paused together: those to one host of the upstream, of one "
                  "route, or with one key.",
         .expected = "host, route or key",
         .otherwise = "host; on a route, route"},
        scopes),
    CooldownRow::duration<&Cooldown::most>(
        {.key = "max_cooldown",
         .about = "The longest pause, whatever the upstream asks for.",
         .expected = a_duration}),
    CooldownRow::duration<&Cooldown::ramp>(
        {.key = "ramp_up",
         .about =
             "The time in which the rate grows from half of the former rate back to all of it.",
         .expected = a_duration}),
    CooldownRow::boolean<&Cooldown::learn>(
        {.key = "learn",
         .about = "Also paces requests by the limits that the upstream's responses report."}),
    CooldownRow::other(
        {.key = "shared",
         .about = "Gateways share the pauses by this store: when the upstream asks one of them for "
                  "a pause, all of them pause.",
         .expected = "a store's name",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "name of a store"},
        [](const Field&, const Value& value, Cooldown& cooldown, LoadState& loading) {
            cooldown.shared = find_store(value, loading.config);
        },
        [](const Field& field,
           const Cooldown& cooldown,
           const Config& config,
           Shown::Map& members) {
            if (cooldown.shared)
                add(members, field.key, config.stores[*cooldown.shared].name);
        }),
    CooldownRow::other(
        {.key = "when_paused",
         .about =
             "A request while its scope is closed gets the upstream's status at once, or waits.",
         .expected = "answer or wait",
         .otherwise = "`answer`"},
        {.kind = FieldType::Kind::word, .words = when_paused},
        nullptr,
        [](const Field& field, const Cooldown& cooldown, const Config&, Shown::Map& members) {
            add(members, field.key, field.type.words[cooldown.wait ? 1 : 0]);
        }),
    CooldownRow::other(
        {.key = "key",
         .about = "The source of the key of scope: key. Requests without it pause together.",
         .expected = a_cooldown_key,
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .name = "source of a key, or list of them"},
        nullptr,
        [](const Field& field, const Cooldown& cooldown, const Config&, Shown::Map& members) {
            if (!cooldown.key.empty())
                add(members, field.key, shown_sources(cooldown.key));
        }),
    CooldownRow::duration<&Cooldown::otherwise>(
        {.key = "default",
         .about = "The pause after a 429 or 503 without a time.",
         .expected = a_duration,
         .otherwise = "none"}),
    CooldownRow::shown_by(
        CooldownRow::later(
            CooldownRow::duration<[](auto& cooldown) -> auto& { return cooldown.wait->max_wait; }>(
                {.key = "max_wait",
                 .about = "The longest time that a request waits. Only with when_paused: wait.",
                 .expected = a_duration})),
        [](const Field& field, const Cooldown& cooldown, const Config&, Shown::Map& members) {
            if (cooldown.wait)
                add(members, field.key, cooldown.wait->max_wait);
        }),
    CooldownRow::shown_by(
        CooldownRow::later(
            CooldownRow::number<[](auto& cooldown) -> auto& { return cooldown.wait->max_waiting; }>(
                {.key = "max_waiting",
                 .about = "The most requests queued for one scope. Only with when_paused: wait.",
                 .expected = "a number of requests"},
                1,
                most_waiting)),
        [](const Field& field, const Cooldown& cooldown, const Config&, Shown::Map& members) {
            if (cooldown.wait)
                add(members, field.key, cooldown.wait->max_waiting);
        }),
};

void read_when_paused(const Section& section, Cooldown& cooldown, LoadState& loading) {
    std::string chosen = "answer";
    if (const auto when = section.find("when_paused"))
        when->into(chosen, "answer or wait", [](std::string_view text) {
            return parse_word(text, when_paused);
        });
    if (chosen == "answer") {
        for (const std::string_view key : {"max_wait", "max_waiting"})
            if (section.find(key))
                section.wrong_at(key, "is only for when_paused: wait");
        return;
    }
    cooldown.wait.emplace(Cooldown::Wait{});
    read_field(section, cooldown_fields(), "max_wait", cooldown, loading);
    read_field(section, cooldown_fields(), "max_waiting", cooldown, loading);
}

} // namespace

Table<Cooldown> cooldown_fields() {
    return cooldown_table;
}

void read_cooldown(const Value& value, Cooldown& cooldown, LoadState& loading) {
    if (value.is_scalar())
        return value.into(
            cooldown.on, "on, off or a map such as {scope: host}", [](std::string_view text) {
                return parse_switch(text, "{scope: host, max_cooldown: 30s}");
            });
    const auto section =
        open_section(value, cooldown_fields(), "on, off or a map such as {scope: host}");
    if (!section)
        return;
    read_fields(*section, cooldown_fields(), cooldown, loading);
    read_key(*section, cooldown);
    check_subjects(*section, "key", loading);
    read_when_paused(*section, cooldown, loading);
    if (cooldown.otherwise && *cooldown.otherwise > cooldown.most)
        section->wrong_at("default", "is longer than max_cooldown");
}

Shown shown_cooldown(const std::optional<Cooldown>& cooldown, const Config& config) {
    if (!cooldown || !cooldown->on)
        return "off";
    return shown(cooldown_fields(), *cooldown, config);
}

} // namespace stint::config
