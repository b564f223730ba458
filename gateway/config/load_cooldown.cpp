// What becomes of a pause that an upstream asks for.
#include "config/load_parts.hpp"
#include "config/values.hpp"

#include <array>

namespace stint::config {

namespace {

constexpr std::array<std::string_view, 4> cooldown_keys{
    "scope", "max_cooldown", "default", "ramp_up"};
constexpr std::array<std::string_view, 2> scopes{"host", "route"};
constexpr std::array<std::string_view, 2> switches{"on", "off"};
constexpr std::string_view a_duration = "a duration such as 30s";

Parsed<Cooldown::Scope> parse_scope(std::string_view text) {
    const auto word = parse_word(text, scopes);
    if (!word)
        return word.error();
    return *word == "route" ? Cooldown::Scope::route : Cooldown::Scope::host;
}

Parsed<bool> parse_switch(std::string_view text) {
    const auto word = parse_word(text, switches);
    if (!word)
        return word.error();
    return *word == "on";
}

} // namespace

void read_cooldown(const Value& value, Cooldown& cooldown) {
    if (value.is_scalar())
        return value.into(cooldown.on, "on, off or a map such as {scope: host}", parse_switch);
    const auto section =
        Section::open(value, cooldown_keys, "on, off or a map such as {scope: host}");
    if (!section)
        return;
    if (const auto scope = section->find("scope"))
        scope->into(cooldown.scope, "host or route", parse_scope);
    if (const auto most = section->find("max_cooldown"))
        most->into(cooldown.most, a_duration, parse_timeout);
    if (const auto otherwise = section->find("default"))
        if (const auto length = otherwise->as(a_duration, parse_timeout))
            cooldown.otherwise = *length;
    if (const auto ramp = section->find("ramp_up"))
        ramp->into(cooldown.ramp, a_duration, parse_timeout);
    if (cooldown.otherwise && *cooldown.otherwise > cooldown.most)
        section->wrong_at("default", "is longer than max_cooldown");
}

} // namespace stint::config
