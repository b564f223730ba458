#include "runtime/dry_run.hpp"

#include "runtime/reload_effects.hpp"
#include "runtime/runtime_overlay.hpp"

#include <utility>

namespace stint::runtime {
namespace {

// The notes of Gateway::swap_in().
std::vector<std::string>
notes_of(const config::Config& former, const config::Config& next, const LimitChanges& changes) {
    const CounterEffects counters = counter_effects(former, next);
    std::vector<std::string> notes = reload_notes(former, next, counters);
    for (const std::string& limit : counters.forgotten())
        if (changes.concern(limit))
            notes.push_back(note_of_ended_changes(limit));
    return notes;
}

} // namespace

DryRun
dry_run(const ConfigStore& store, const LimitChanges& changes, const ListenerSet& listeners) {
    auto read = store.read_apart();
    if (!read)
        return {.errors = errors_of(read.error())};
    std::string refusal = store.refused_pair_in(read->config, changes);
    if (refusal.empty())
        refusal = listeners.refusal_of_new(read->config);
    if (!refusal.empty())
        return {.errors = {ReloadError{std::move(refusal)}}};
    std::vector<std::string> notes = notes_of(store.config(), read->config, changes);
    return {
        .errors = {},
        .next = std::move(read->config),
        .text = std::move(read->text),
        .notes = std::move(notes)};
}

} // namespace stint::runtime
