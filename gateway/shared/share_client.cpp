#include "shared/share_client.hpp"

#include "shared/share_timing.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace stint::shared {

namespace {

using namespace std::chrono_literals;

// The end of a share is the session's end (SharePolicy::end_at()), not its own.
constexpr SteadyTime for_ever = SteadyTime::max() - 1ns;
constexpr std::size_t most_syncs_at_once = 256;
// How often a counter is looked at while the session holds nothing.
constexpr Duration between_looks_without_session = 100ms;

std::int64_t in_ms(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// Takes the first word off the text, and the space behind it.
std::string_view next_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
}

} // namespace

ShareClient::ShareClient(SessionTerms terms, Transport& transport, ShareListener& listener)
    : session_{std::move(terms)}, transport_{transport}, listener_{listener} {}

void ShareClient::drop_shares(const Now& now) {
    sent_.clear();
    if (std::exchange(trust_, Trust::no) != Trust::no) // a later session may not tell it
        listener_.trusted(false);
    while (!counters_.empty())
        forget(counters_.begin()->second, now);
    untold_ = 0;
}

void ShareClient::begin(SessionTerms terms, const Now& now) {
    drop_shares(now);
    session_ = Session{std::move(terms)};
    listener_.session_moved();
}

std::uint64_t ShareClient::share(const std::string& name) const {
    const auto found = counters_.find(name);
    return found != counters_.end() ? found->second.share : 0;
}

ShareCounter& ShareClient::counter_of(const std::string& name, const SharedCounter& of) {
    const auto [at, made] = counters_.try_emplace(name);
    ShareCounter& counter = at->second;
    counter.of = of;
    if (made) {
        counter.name = name;
        counter.number = units_of(of);
        counter.told = true; // nothing is held
        due_.insert(&counter);
    }
    if (counter.call == 0)
        take_report(counter);
    return counter;
}

// Counts reported leases as held, so that the store hears of them. The reply to a call sets `told`,
// so no call may be on its way.
void ShareClient::take_report(ShareCounter& counter) {
    limits::LeaseCover* const leases = leases_of(counter.of);
    const std::uint64_t leased = leases != nullptr ? leases->take_report() : 0;
    if (leased == 0)
        return;
    counter.held = std::max(counter.held, leased);
    untold_ += counter.told ? 1 : 0;
    counter.told = false;
}

void ShareClient::forget(ShareCounter& counter, const Now& now) {
    (void)counter.of.limit->set_share(counter.of.key, {{0, 0}, now.steady}, now);
    if (limits::LeaseCover* const leases = leases_of(counter.of))
        leases->uncover();
    due_.erase(&counter);
    untold_ -= counter.told ? 0 : 1;
    note_left(counter);
    if (counter.call != 0 || counter.unasked || counter.awaits_recall())
        listener_.failed(counter.name);
    std::erase_if(sent_, [&](const auto& each) { return each.second.counter == &counter; });
    counters_.erase(std::string{counter.name});
}

void ShareClient::schedule(ShareCounter& counter, SteadyTime due) {
    due_.erase(&counter);
    counter.due = due;
    due_.insert(&counter);
}

void ShareClient::use_share(ShareCounter& counter, std::uint64_t share, const Now& now) {
    counter.share = share;
    const limits::Share set{counter.numbers(share), for_ever, counter.ask_after, counter.gifts_by};
    if (!counter.of.limit->set_share(counter.of.key, set, now))
        counter.share = 0; // no room for another key's share: it is given back
}

// Lowers the share, if it is less, and returns what the store has to hold for this gateway.
std::uint64_t ShareClient::hold_for(ShareCounter& counter, std::uint64_t share, const Now& now) {
    const bool lower = share < counter.held;
    if (share != counter.share || lower)
        use_share(counter, share, now);
    if (!lower)
        return counter.held;
    if (!leaving_ || !has_parts(counter.of))
        return counter.hold_with(counter.share, now);
    // Nothing is admitted any more, so others get all but the parts that pay off what is owed.
    counter.held = counter.hold_of_debt(now);
    slow_down(counter, now);
    return counter.held;
}

Wanted ShareClient::want(
    const std::string& name, const SharedCounter& of, std::uint64_t cost, const Now& now) {
    if (session_.state() != SessionState::active || now.steady >= session_.ends_at() || leaving_)
        return Wanted::failed;
    ShareCounter& counter = counter_of(name, of);
    counter.wants.note_cost(cost, now.steady);
    counter.note_want(now.steady);
    if (counter.call != 0) {
        counter.unasked = !counter.told_whole();
        return Wanted::asked;
    }
    if (counter.awaits_recall())
        return Wanted::asked;
    if (now.steady < counter.retry_after)
        return Wanted::failed;
    const limits::LeaseCover* const leases = leases_of(of);
    const bool lacks_fences = leases != nullptr && counter.held > 0 && leases->runs_low();
    const bool has_all =
        counter.share >= counter.whole() || cost > counter.capacity(counter.whole());
    if (!lacks_fences && (has_all || now.steady < counter.ask_after))
        return Wanted::told;
    if (sent_.size() < most_syncs_at_once)
        sync(counter, counter.share, now);
    else if (!std::exchange(counter.unasked, true))
        schedule(counter, now.steady); // behind those that are due already
    return Wanted::asked;
}

void ShareClient::recall(std::string_view message, const Now& now) {
    const std::string_view word = next_word(message);
    if (next_word(message) == session_.terms().session)
        return;
    const auto found = counters_.find(std::string{message});
    if (found == counters_.end() || session_.state() != SessionState::active)
        return;
    ShareCounter& counter = found->second;
    const Heard heard = word == "gives" ? Heard::gives : Heard::wants;
    if (counter.call != 0)
        counter.heard = std::max(counter.heard, heard);
    else if (heard == Heard::gives && counter.awaits_recall())
        sync(counter, counter.share, now);
    else
        follow(counter, heard, now);
}

void ShareClient::follow(ShareCounter& counter, Heard heard, const Now& now) {
    const bool gives = heard == Heard::wants && !counter.is_used_up(now);
    const SteadyTime next =
        counter.synced_at + (gives ? between_gifts(counter.of) : between_looks(counter.of));
    if (next <= now.steady)
        sync(counter, counter.share, now);
    else
        recall_at(counter, next);
}

void ShareClient::recall_at(ShareCounter& counter, SteadyTime when) {
    counter.recall_at = std::min(counter.recall_at, when);
    if (counter.recall_at < counter.due)
        schedule(counter, counter.recall_at);
}

void ShareClient::sync(ShareCounter& counter, std::uint64_t share, const Now& now) {
    take_report(counter);
    const std::uint64_t kept = leaving_ ? 0 : std::min(share, counter.held);
    const std::uint64_t hold = hold_for(counter, kept, now);
    limits::LeaseCover* const leases = leases_of(counter.of);
    if (leases != nullptr)
        leases->cover_at_most(leaving_ ? 0 : hold); // before others can have what is given up
    if (leases != nullptr && hold == 0)
        leases->drop_fences();
    const Duration span = span_of(counter.of, session_.terms().time_to_live);
    const Duration life = 2 * (span + session_.terms().time_to_live) + 1min;
    std::vector<std::string> arguments = session_.arguments("sync", now.steady);
    counter.note_demand(now);
    counter.held = hold; // at most: the call may be carried out without its reply
    counter.heard = Heard::nothing;
    counter.unasked = false;
    counter.recall_at = SteadyTime::max();
    counter.told_want = leaving_ ? 0 : counter.want(now);
    const std::uint64_t number = units_of(counter.of);
    const std::uint64_t proposes = counter.proposed != number ? 1 : 0;
    const std::uint64_t seq = last_call_ + 1; // rises also if the counter is forgotten meanwhile
    for (const std::uint64_t each : {seq, hold, counter.told_want, number, proposes})
        arguments.push_back(std::to_string(each));
    arguments.push_back(std::to_string(in_ms(span)));
    arguments.push_back(std::to_string(window_of(counter.of, now)));
    arguments.push_back(std::to_string(in_ms(life)));
    arguments.push_back(std::to_string(in_ms(session_.terms().timeout)));
    arguments.push_back(std::to_string(leaving_ ? 0 : counter.need(now.steady)));
    if (leases != nullptr) {
        arguments.push_back(std::to_string(counter.of.limit->fence()));
        arguments.emplace_back(leases->runs_low() ? "1" : "0");
        const std::int64_t wall = now.wall.time_since_epoch() / 1ms;
        arguments.push_back(std::to_string(std::max<std::int64_t>(wall, 0)));
        arguments.push_back(std::to_string(leases->highest_fence()));
    }
    if (has_parts(counter.of)) {
        arguments.emplace_back("parts");
        arguments.push_back(std::to_string(counter.number));
    }
    counter.told_demand = !leaving_ && counter.in_demand(now.steady);
    counter.refresh = now.steady + life / 3;
    schedule(
        counter,
        counter.awaits_recall() ? std::min(counter.refresh, counter.answer_by) : counter.refresh);
    counter.call = send(
        counter.name, std::move(arguments),
        {.counter = &counter,
         .at = now.steady,
         .hold = hold,
         .number = number,
         .span = span,
         .gives_up = leaving_});
}

std::uint64_t
ShareClient::send(std::string name, std::vector<std::string> arguments, const Sent& sent) {
    const std::uint64_t call = ++last_call_;
    sent_.emplace(call, sent);
    transport_.send(
        {.number = call, .counter = std::move(name), .arguments = std::move(arguments)});
    return call;
}

// Looks at a counter that is due: gives up a part that others want or that is idle, and tells the
// store what has changed.
void ShareClient::look_after(ShareCounter& counter, const Now& now) {
    if (counter.awaits_recall() && now.steady >= counter.answer_by) {
        end_recall_wait(counter, now);
        listener_.answered(counter.name);
    }
    if (session_.state() != SessionState::active) {
        if (std::exchange(counter.unasked, false))
            listener_.failed(counter.name);
        return schedule(counter, now.steady + between_looks_without_session);
    }
    if (counter.call != 0)
        return schedule(
            counter,
            now.steady +
                next_backoff({}, counter.of, most_backoff(false, session_.terms().time_to_live)));
    if (leaving_)
        return counter.left ? schedule(counter, std::max(counter.refresh, now.steady + 1s))
                            : sync(counter, 0, now);
    if (!counter.told)
        return sync(counter, counter.share, now);
    counter.note_demand(now);
    if (counter.in_use(now) > 0)
        counter.used_at = now.steady;
    if (counter.is_idle(now.steady))
        return sync(counter, 0, now);
    const bool recalled = now.steady >= counter.recall_at;
    const bool sated = counter.told_demand && !counter.in_demand(now.steady);
    const std::uint64_t kept = std::min(counter.share, counter.part);
    const bool gives = counter.others_lack && counter.hold_with(kept, now) < counter.held;
    const bool renumbered = counter.proposed != units_of(counter.of);
    if (gives || sated || recalled || renumbered || counter.unasked || counter.has_shrunk(now) ||
        counter.is_awaited(now.steady) || now.steady >= counter.refresh)
        return sync(counter, gives ? kept : counter.share, now);
    const SteadyTime later = now.steady + counter.pause_looks();
    schedule(counter, std::min(counter.next_look(now.steady), later));
}

SteadyTime ShareClient::tick(const Now& now) {
    const Duration timeout = session_.terms().timeout;
    while (!sent_.empty() && sent_.begin()->second.at + timeout <= now.steady)
        failed(sent_.begin()->first, now);
    if (session_.state() != SessionState::dead && session_.next_beat() <= now.steady)
        (void)send({}, session_.beat(untold_ == 0, now), {.counter = nullptr, .at = now.steady});
    while (!due_.empty() && (*due_.begin())->due <= now.steady && sent_.size() < most_syncs_at_once)
        look_after(**due_.begin(), now);
    SteadyTime next =
        session_.state() == SessionState::dead ? SteadyTime::max() : session_.next_beat();
    if (!due_.empty() && sent_.size() < most_syncs_at_once)
        next = std::min(next, (*due_.begin())->due);
    if (!sent_.empty())
        next = std::min(next, sent_.begin()->second.at + timeout);
    return std::max(next, now.steady);
}

bool ShareClient::leave(const Now& now) {
    if (!leaving_) {
        leaving_ = true;
        to_leave_ = counters_.size();
        for (auto& [name, counter] : counters_)
            schedule(counter, now.steady);
    }
    const SessionState state = session_.state();
    if (left_ || (state != SessionState::active && state != SessionState::joining))
        return true;
    const bool gave_up = to_leave_ == 0 || state == SessionState::joining;
    if (gave_up && leave_call_ == 0 && now.steady >= leave_after_)
        leave_call_ = send(
            {}, session_.arguments("leave", now.steady),
            {.counter = nullptr, .at = now.steady, .ends_session = true});
    return false;
}

bool ShareClient::trust(const Now& now) {
    if (session_.state() != SessionState::active)
        return false;
    trust_ = trust_ == Trust::in_next_epoch ? Trust::second : Trust::first;
    (void)send(
        {}, session_.arguments("trust", now.steady),
        {.counter = nullptr, .at = now.steady, .trusts = true});
    return true;
}

void ShareClient::note_left(ShareCounter& counter) {
    if (leaving_ && !std::exchange(counter.left, true))
        --to_leave_;
}

} // namespace stint::shared
