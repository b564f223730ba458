#include "shared/session.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace stint::shared {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

} // namespace

std::string_view name_of(SessionState state) noexcept {
    switch (state) {
    case SessionState::joining:
        return "joining";
    case SessionState::active:
        return "active";
    case SessionState::taken:
        return "taken";
    case SessionState::foreign:
        return "foreign";
    case SessionState::dead:
        return "dead";
    case SessionState::unknown:
        break;
    }
    return "unknown";
}

Session::Session(SessionTerms terms) : terms_{std::move(terms)} {}

Duration Session::between_beats() const noexcept {
    return std::min<Duration>(terms_.time_to_live / 10, std::chrono::seconds{1});
}

std::vector<std::string> Session::arguments(std::string_view operation, SteadyTime now) const {
    // At least so long ago the store told its time; a clock that runs 10 % fast included.
    const auto elapsed = store_time_ < 0
                             ? milliseconds{0}
                             : duration_cast<milliseconds>((now - store_time_at_) * 9 / 10);
    return {
        std::string{operation},
        terms_.session,
        std::to_string(duration_cast<milliseconds>(terms_.time_to_live).count()),
        epoch_,
        std::to_string(store_time_),
        std::to_string(elapsed.count()),
        std::to_string(is_valid(now) ? base(now, elapsed.count()) : -1)};
}

// By this session's own clock: the store's may have jumped meanwhile.
std::int64_t Session::base(SteadyTime now, std::int64_t elapsed) const {
    const auto since = duration_cast<milliseconds>((now - base_at_) * 9 / 10).count();
    return std::max<std::int64_t>(store_time_ + elapsed - base_age_ - since, 0);
}

std::vector<std::string> Session::beat(bool told_all, const Now& time) {
    const SteadyTime now = time.steady;
    std::vector<std::string> made = arguments("beat", now);
    const bool valid = is_valid(now);
    made.push_back(terms_.gateway);
    made.push_back(std::to_string(members_));
    made.push_back(told_all ? epoch_ : "-");
    made.push_back(valid ? "1" : was_active_ ? "0" : "n");
    made.push_back(valid ? "a" : "j");
    made.push_back(valid ? member_list_ : "");
    made.push_back(
        std::to_string(duration_cast<milliseconds>(time.wall.time_since_epoch()).count()));
    made.push_back(std::to_string(++beats_));
    made.push_back(std::to_string(longest_time_to_live_));
    made.push_back(came_unheld_ ? "1" : "0");
    beat_at_ = now;
    unanswered_since_ = unanswered_since_.value_or(now);
    next_beat_ = now + between_beats();
    return made;
}

void Session::hasten(SteadyTime now) noexcept {
    next_beat_ = std::min(next_beat_, std::max(now, beat_at_ + between_beats() / 16));
}

void Session::note_time(const Reply& reply, SteadyTime sent, SteadyTime now) {
    const std::int64_t told = number_at(reply, 1);
    if (sent < store_time_at_ && store_time_ >= 0)
        return; // a newer time is known
    if (told >= store_time_) {
        store_time_ = told;
        store_time_at_ = now;
    }
}

Session::Beaten Session::answered(const Reply& reply, SteadyTime sent, SteadyTime now) {
    if (sent < answered_at_)
        return {};
    answered_at_ = sent;
    unanswered_since_ = sent < beat_at_ ? std::optional{beat_at_} : std::nullopt;
    note_time(reply, sent, now);
    const std::string_view word = text_at(reply, 0);
    if (word == "dead") {
        state_ = SessionState::dead;
        return {.new_epoch = false, .lost = true};
    }
    if (word == "taken" || word == "protocol") {
        const bool held = state_ == SessionState::active;
        state_ = word == "taken" ? SessionState::taken : SessionState::foreign;
        return {.new_epoch = false, .lost = held};
    }
    Beaten result;
    const std::string_view epoch = text_at(reply, 2);
    const bool valid = now < ends_at_;
    // A beat that was made before the latest answer came may not list who has joined since, or say
    // that this session has been active. Its answer brings no new epoch: that of the next one does.
    if (epoch != epoch_ && sent < base_at_) {
        hasten(now);
        return {};
    }
    if (epoch != epoch_) {
        result.new_epoch = true;
        // The store may have forgotten that it ended this session and passed its shares on.
        result.lost = state_ == SessionState::active && !valid;
        epoch_ = epoch;
        came_unheld_ = !was_active_;
        hasten(now);
    }
    const bool was_active = state_ == SessionState::active;
    state_ = text_at(reply, 3) == "a" ? SessionState::active : SessionState::joining;
    if (members_ != number_at(reply, 4) || state_ == SessionState::joining)
        hasten(now + between_beats() / 4);
    if (was_active && state_ == SessionState::joining)
        result.lost = true;
    was_active_ = was_active_ || state_ == SessionState::active;
    members_ = number_at(reply, 4);
    learned_ = number_at(reply, 5) == 1;
    base_age_ = number_at(reply, 1) - number_at(reply, 6);
    base_at_ = now;
    member_list_ = text_at(reply, 7);
    quiet_span_ = milliseconds{number_at(reply, 8)};
    longest_time_to_live_ = number_at(reply, 9);
    ends_at_ = sent + terms_.time_to_live * 2 / 3;
    return result;
}

} // namespace stint::shared
