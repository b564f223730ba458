#include "runtime/watch/reload_decision.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stint::runtime {
namespace {

struct Changes {
    bool missing = false; // one of them cannot be read now
    bool tls = false;     // one of them is of TLS
    bool others = false;  // one of them is not
};

Changes between(const FileContents& former, const FileContents& present) {
    Changes changes;
    for (std::size_t i = 0; i < present.size(); ++i) {
        if (i < former.size() && former[i] == present[i])
            continue;
        changes.missing |= !present[i].hash;
        (present[i].tls ? changes.tls : changes.others) = true;
    }
    return changes;
}

Duration rest_of(const Changes& changes) {
    if (changes.missing)
        return ReloadDecision::rest_of_missing;
    return changes.tls ? ReloadDecision::rest_of_tls : ReloadDecision::rest;
}

} // namespace

void ReloadDecision::tried(FileContents contents, bool applied, SteadyTime now) {
    tried_ = std::move(contents);
    applied_ = applied;
    changed_.reset();
    next_ = now + debounce;
}

void ReloadDecision::on_event(SteadyTime now) noexcept {
    next_ = std::min(next_, now + debounce);
}

ReloadDecision::Verdict ReloadDecision::look(const FileContents& present, SteadyTime now) {
    next_ = now + poll;
    if (present == tried_) {
        changed_.reset();
        return Verdict::nothing;
    }
    if (changed_ != present) {
        changed_ = present;
        changed_at_ = now;
    }
    const Changes changes = between(tried_, present);
    if (const SteadyTime at_rest = changed_at_ + rest_of(changes); now < at_rest) {
        next_ = std::min(next_, at_rest);
        return Verdict::nothing;
    }
    tried_ = present;
    changed_.reset();
    return applied_ && !changes.others ? Verdict::certificates : Verdict::everything;
}

} // namespace stint::runtime
