// Cooldowns: handling of a pause that an upstream asks for.
#include "config/sections/section_readers.hpp"
#include "config/values/key_values.hpp"
#include "config/values/values.hpp"

#include <array>
#include <string>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 9> cooldown_keys{"scope",       "key",      "max_cooldown",
                                                        "default",     "ramp_up",  "learn",
                                                        "when_paused", "max_wait", "max_waiting"};
constexpr std::array<std::string_view, 3> scopes{"host", "route", "key"};
constexpr std::array<std::string_view, 2> when_paused{"answer", "wait"};
constexpr std::string_view a_duration = "a duration such as 30s";
constexpr std::string_view a_cooldown_key = "a key such as header:X-Api-Key, or a list of keys";

Parsed<Cooldown::Scope> parse_scope(std::string_view text) {
    const auto word = parse_word(text, scopes);
    if (!word)
        return word.error();
    return *word == "route" ? Cooldown::Scope::route
           : *word == "key" ? Cooldown::Scope::key
                            : Cooldown::Scope::host;
}

Parsed<bool> parse_switch(std::string_view text) {
    const auto word = parse_word(text, on_off);
    if (!word)
        return word.error();
    return *word == "on";
}

// One source, or several together.
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

void read_when_paused(const Section& section, Cooldown& cooldown) {
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
    Cooldown::Wait& wait = cooldown.wait.emplace(Cooldown::Wait{});
    if (const auto most = section.find("max_wait"))
        most->into(wait.max_wait, a_duration, parse_timeout);
    if (const auto most = section.find("max_waiting"))
        most->into(wait.max_waiting, "a number of requests", [](std::string_view text) {
            return parse_count(text, 1, most_waiting);
        });
}

} // namespace

void read_cooldown(const Value& value, Cooldown& cooldown, const LoadState& loading) {
    if (value.is_scalar())
        return value.into(cooldown.on, "on, off or a map such as {scope: host}", parse_switch);
    const auto section =
        Section::open(value, cooldown_keys, "on, off or a map such as {scope: host}");
    if (!section)
        return;
    if (const auto scope = section->find("scope"))
        scope->into(cooldown.scope, "host, route or key", parse_scope);
    read_key(*section, cooldown);
    check_subjects(*section, "key", loading);
    if (const auto most = section->find("max_cooldown"))
        most->into(cooldown.most, a_duration, parse_timeout);
    if (const auto otherwise = section->find("default"))
        if (const auto length = otherwise->as(a_duration, parse_timeout))
            cooldown.otherwise = *length;
    if (const auto ramp = section->find("ramp_up"))
        ramp->into(cooldown.ramp, a_duration, parse_timeout);
    if (const auto learn = section->find("learn"))
        learn->into(cooldown.learn, "true or false", parse_bool);
    read_when_paused(*section, cooldown);
    if (cooldown.otherwise && *cooldown.otherwise > cooldown.most)
        section->wrong_at("default", "is longer than max_cooldown");
}

} // namespace stint::config
