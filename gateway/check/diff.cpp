#include "check/diff.hpp"

#include "admin/config_json.hpp"
#include "config/diff/changes.hpp"
#include "config/yaml/diagnostics.hpp"
#include "config/yaml/places.hpp"
#include "runtime/reload_effects.hpp"

#include <array>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::check {
namespace {

using Kind = config::Difference::Kind;

std::string_view effect_text(config::Reload effect) {
    switch (effect) {
    case config::Reload::applies:
        return "at once";
    case config::Reload::new_connections:
        return "for new connections";
    case config::Reload::restart:
        break;
    }
    return "after a restart";
}

std::string change_text(const config::Change& change) {
    const auto text = [](const config::Shown& value) {
        constexpr auto replaced = admin::Json::error_handler_t::replace;
        return config::without_controls(admin::file_json(value).dump(-1, ' ', false, replaced));
    };
    switch (change.kind) {
    case Kind::added:
        return "added " + text(*change.next);
    case Kind::removed:
        return "removed " + text(*change.former);
    case Kind::moved:
        return "moved from [" + std::to_string(change.moved_from) + "]";
    case Kind::changed:
        break;
    }
    return text(*change.former) + " -> " + text(*change.next);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

// Writes a line such as "limits: added a, b; changed c", or nothing if all lists are empty.
using Lists = std::vector<std::pair<std::string_view, const std::vector<std::string>&>>;
void write_lists(std::string_view subject, const Lists& lists, std::ostream& out) {
    std::string text;
    for (const auto& [verb, names] : lists)
        if (!names.empty())
            text.append(text.empty() ? "" : "; ").append(verb).append(" ").append(listed(names));
    if (!text.empty())
        out << subject << ": " << config::without_controls(text) << '\n';
}

void write_effects(const runtime::ReloadEffects& effects, std::ostream& out) {
    const std::array<std::pair<std::string_view, const runtime::PartEffects&>, 5> parts{{
        {"limits", effects.limits},
        {"caps", effects.caps},
        {"locks", effects.locks},
        {"cool-downs", effects.cooldowns},
        {"endpoints", effects.endpoints},
    }};
    for (const auto& [subject, part] : parts)
        write_lists(
            subject, {{"added", part.added}, {"removed", part.removed}, {"changed", part.changed}},
            out);
    const runtime::CounterEffects& counters = effects.counters;
    write_lists(
        "counters",
        {{"kept", counters.kept}, {"begin anew", counters.begin_anew}, {"ended", counters.ended}},
        out);
}

} // namespace

bool write_diff(const Loaded& former, const Loaded& next, std::ostream& out) {
    const auto changes = config::changes_between(former.config, next.config);
    if (changes.empty()) {
        out << next.source.shown << ": no difference from " << former.source.shown << '\n';
        return false;
    }
    config::Places before{*former.source.text, former.source.shown};
    config::Places after{*next.source.text, next.source.shown};
    for (const config::Change& change : changes) {
        config::Places& places = change.kind == Kind::removed ? before : after;
        out << places.of(change.path) << ": "
            << config::without_controls(config::path_text(change.path)) << ": "
            << change_text(change) << " (" << effect_text(change.effect) << ")\n";
    }
    write_effects(runtime::reload_effects(former.config, next.config), out);
    return true;
}

} // namespace stint::check
