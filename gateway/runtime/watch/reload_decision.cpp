#include "runtime/watch/reload_decision.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stint::runtime {
namespace {

bool is_missing_or_empty(const std::optional<Hash128>& content) {
    static const Hash128 empty = content_hash("");
    return !content || *content == empty;
}

} // namespace

void ReloadDecision::note_reload(FileContents contents, bool applied, SteadyTime now) {
    tried_ = std::move(contents);
    states_.assign(tried_.size(), {});
    applied_ = applied;
    next_ = now + debounce;
}

void ReloadDecision::on_event(std::string_view path, FileEvent event, SteadyTime now) noexcept {
    const auto file = std::ranges::find(tried_, path, &FileContent::path);
    if (file == tried_.end())
        return;
    Writer& writer = states_[static_cast<std::size_t>(file - tried_.begin())].writer;
    if (event == FileEvent::written)
        writer = Writer::has_it_open; // no need to look: it will be closed
    else
        next_ = std::min(next_, now + debounce);
    if (event == FileEvent::complete)
        writer = Writer::is_done;
    if (event == FileEvent::lost)
        writer = Writer::unknown;
}

// Notes what the look says about a file, and what the events have said before it. That a writer was
// done is true of the content that is seen first after it.
void ReloadDecision::compare(
    State& state, const FileContent& tried, const FileContent& present, SteadyTime now) {
    const Writer writer = state.writer;
    if (writer == Writer::is_done)
        state.writer = Writer::unknown;
    if (present.hash == tried.hash) {
        state.change.reset();
        return;
    }
    if (!state.change)
        state.change = Change{present.hash, now, writer};
    else if (state.change->content != present.hash)
        state.change = Change{present.hash, now, writer, state.change->could_be_read};
    else if (writer != Writer::unknown)
        state.change->writer = writer;
    Change& change = *state.change;
    const bool complete = change.writer == Writer::is_done && !is_missing_or_empty(change.content);
    if (!change.could_be_read && (complete || now >= at_rest(change, present.tls)))
        change.could_be_read = now;
}

SteadyTime ReloadDecision::at_rest(const Change& change, bool tls) {
    if (change.writer == Writer::has_it_open)
        return change.since + rest_of_open;
    if (change.writer == Writer::unknown || is_missing_or_empty(change.content))
        return change.since + rest_in_doubt;
    return change.since + (tls ? rest_of_tls : rest);
}

// Returns true if all changes are at rest, or one of them has waited long enough for that. Sets the
// next look to when more of them may be.
bool ReloadDecision::is_due(SteadyTime now) {
    bool all_rest = true;
    bool waited = false;
    SteadyTime next = SteadyTime::max();
    for (std::size_t i = 0; i < states_.size(); ++i) {
        const auto& change = states_[i].change;
        if (!change)
            continue;
        const SteadyTime rests = at_rest(*change, tried_[i].tls);
        all_rest &= now >= rests;
        if (now < rests)
            next = std::min(next, rests);
        if (!change->could_be_read)
            continue;
        const SteadyTime waits_until = *change->could_be_read + longest_wait;
        waited |= now >= waits_until;
        if (now < waits_until)
            next = std::min(next, waits_until);
    }
    next_ = std::min(next_, next);
    return all_rest || waited;
}

ReloadDecision::Verdict ReloadDecision::look(const FileContents& present, SteadyTime now) {
    next_ = now + poll;
    for (std::size_t i = 0; i < states_.size(); ++i)
        compare(states_[i], tried_[i], present[i], now);
    return is_due(now) ? read_what_is_ready() : Verdict::nothing;
}

// A reload reads every file, also what is not ready, but no configuration that may be incomplete.
ReloadDecision::Verdict ReloadDecision::read_what_is_ready() {
    changed_.clear();
    bool everything = false;
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (const auto& change = states_[i].change; change && change->could_be_read) {
            changed_.push_back({tried_[i].path, change->writer == Writer::is_done});
            everything |= !applied_ || !tried_[i].tls;
        }
    if (changed_.empty())
        return Verdict::nothing;
    if (everything && states_.front().change && !states_.front().change->could_be_read)
        return Verdict::nothing;
    for (std::size_t i = 0; i < states_.size(); ++i)
        if (auto& change = states_[i].change; change && (everything || change->could_be_read)) {
            tried_[i].hash = change->content;
            change.reset();
        }
    return everything ? Verdict::everything : Verdict::certificates;
}

} // namespace stint::runtime
