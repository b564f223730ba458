#include "admin/dry_run.hpp"

#include "config/diff/changes.hpp"
#include "config/yaml/places.hpp"
#include "runtime/reload_effects.hpp"

#include <string_view>

namespace stint::admin {
namespace {

std::string_view word_of(config::Difference::Kind kind) {
    using Kind = config::Difference::Kind;
    switch (kind) {
    case Kind::added:
        return "added";
    case Kind::removed:
        return "removed";
    case Kind::changed:
        return "changed";
    case Kind::moved:
        break;
    }
    return "moved";
}

std::string_view word_of(config::Reload effect) {
    switch (effect) {
    case config::Reload::applies:
        return "at_once";
    case config::Reload::new_connections:
        return "new_connections";
    case config::Reload::restart:
        break;
    }
    return "restart";
}

// A removed key has no place, because the file does not have it any more.
Json difference_json(const config::Change& change, config::Places& places) {
    using Kind = config::Difference::Kind;
    Json json{{"path", config::path_text(change.path)}};
    if (change.kind != Kind::removed)
        json["place"] = places.of(change.path);
    json["change"] = word_of(change.kind);
    if (change.kind == Kind::moved)
        json["from"] = change.moved_from;
    if (change.former)
        json["former"] = file_json(*change.former);
    if (change.next)
        json["next"] = file_json(*change.next);
    json["effect"] = word_of(change.effect);
    return json;
}

// Reads the file's text once more for the places, unless nothing has changed.
Json changes_json(
    const runtime::DryRun& run, const config::Config& in_force, const std::filesystem::path& file) {
    Json json = Json::array();
    const auto changes = config::changes_between(in_force, run.next);
    if (changes.empty())
        return json;
    config::Places places{run.text, file};
    for (const config::Change& change : changes)
        json.push_back(difference_json(change, places));
    return json;
}

Json part_json(const runtime::PartEffects& part) {
    return {{"added", part.added}, {"removed", part.removed}, {"changed", part.changed}};
}

} // namespace

Json dry_run_json(
    const runtime::DryRun& run,
    const config::Config& in_force,
    const std::filesystem::path& file,
    std::uint64_t generation) {
    Json json{{"dry_run", true}, {"would_reload", run.errors.empty()}, {"generation", generation}};
    json["errors"] = Json::array();
    for (const runtime::ReloadError& error : run.errors)
        json["errors"].push_back(error.text);
    if (!run.errors.empty())
        return json;
    json["notes"] = run.notes;
    json["changes"] = changes_json(run, in_force, file);
    const runtime::ReloadEffects effects = runtime::reload_effects(in_force, run.next);
    const runtime::CounterEffects& counters = effects.counters;
    json["counters"] = {
        {"kept", counters.kept}, {"begin_anew", counters.begin_anew}, {"ended", counters.ended}};
    json["limits"] = part_json(effects.limits);
    json["caps"] = part_json(effects.caps);
    json["locks"] = part_json(effects.locks);
    json["cooldowns"] = part_json(effects.cooldowns);
    json["endpoints"] = part_json(effects.endpoints);
    return json;
}

} // namespace stint::admin
