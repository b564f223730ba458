// The store's answers, and what follows from them.
#include "shared/share_client.hpp"
#include "shared/share_timing.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace stint::shared {
namespace {

// After a session could not be ended.
constexpr Duration leave_pause = std::chrono::milliseconds{50};

// While requests want shares, the store is asked more often than that.
constexpr Duration withheld_for = std::chrono::seconds{2};

std::uint64_t units_at(const Reply& reply, std::size_t at) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number_at(reply, at), 0));
}

} // namespace

void ShareClient::answered(std::uint64_t call, const Reply& reply, const Now& now) {
    const auto found = sent_.find(call);
    if (found == sent_.end())
        return; // late
    const Sent sent = found->second;
    sent_.erase(found);
    if (sent.ends_session)
        return session_ended(reply, now);
    if (sent.trusts)
        return trust_answered(reply, now);
    if (sent.counter == nullptr) {
        const SteadyTime ended = session_.ends_at();
        return beaten(session_.answered(reply, sent.at, now.steady), ended, now);
    }
    session_.note_time(reply, sent.at, now.steady);
    synced(*sent.counter, reply, sent, now);
}

void ShareClient::failed(std::uint64_t call, const Now& now) {
    const auto found = sent_.find(call);
    if (found == sent_.end())
        return;
    const Sent sent = found->second;
    sent_.erase(found);
    if (sent.ends_session)
        return session_ended({}, now);
    if (sent.trusts)
        return trust_answered({}, now);
    if (sent.counter == nullptr)
        return; // the next beat is due anyway
    give_up(*sent.counter, now);
}

// The call for the counter has no answer.
void ShareClient::give_up(ShareCounter& counter, const Now& now) {
    counter.call = 0;
    counter.answer_by = {};
    counter.note_failure(session_.terms().time_to_live, now.steady);
    schedule(counter, counter.retry_after);
    listener_.failed(counter.name);
}

// The store may not know the session in its epoch, or may not have answered: then once more.
void ShareClient::session_ended(const Reply& reply, const Now& now) {
    const std::string_view answer = text_at(reply, 0);
    left_ = answer == "ok" || answer == "unknown" || answer == "dead";
    leave_call_ = 0;
    leave_after_ = now.steady + leave_pause;
    session_.hasten(now.steady);
}

// An operator's word is about the store's present epoch, also if this session has not joined it
// yet.
void ShareClient::trust_answered(const Reply& reply, const Now& now) {
    const std::string_view answer = text_at(reply, 0);
    session_.hasten(now.steady);
    if (answer == "epoch" && trust_ == Trust::first) {
        trust_ = Trust::in_next_epoch;
        return;
    }
    trust_ = Trust::no;
    listener_.trusted(answer == "ok");
}

void ShareClient::synced(
    ShareCounter& counter, const Reply& reply, const Sent& sent, const Now& now) {
    const std::string_view answer = text_at(reply, 0);
    if (answer == "ok") {
        counter.call = 0;
        return take_grant(counter, reply, sent, now);
    }
    session_.hasten(now.steady);
    give_up(counter, now);
}

void ShareClient::take_grant(
    ShareCounter& counter, const Reply& reply, const Sent& sent, const Now& now) {
    const std::uint64_t granted = units_at(reply, 3);
    const std::uint64_t number = units_at(reply, 7);
    const std::uint64_t hold =
        has_parts(counter.of) ? parts_of(sent.hold, counter.number, number, true) : sent.hold;
    counter.part = units_at(reply, 4);
    counter.others_lack = units_at(reply, 5) == 1;
    counter.take_number(number);
    counter.proposed = sent.number;
    if (!counter.told && text_at(reply, 2) == session_.epoch()) {
        counter.told = true;
        untold_ -= 1;
        if (untold_ == 0)
            session_.hasten(now.steady);
    }
    counter.held = std::max(granted, hold);
    counter.note_demand(now);
    if (sent.gives_up)
        note_left(counter);
    const bool grew = granted > hold;
    const bool gives = grew || number_at(reply, 10) == 1; // false: shares may be unknown to it
    if (!gives)
        withheld_until_ = now.steady + withheld_for;
    if (counter.held == 0 && counter.told_want == 0 && counter.heard == Heard::nothing &&
        !counter.in_demand(now.steady)) {
        counter.unasked = false;
        tell(counter, gives);
        return forget(counter, now);
    }
    const bool first = counter.backoff == Duration::zero(); // the demand has just begun
    counter.note_reply(grew, session_.terms().time_to_live, now.steady);
    if (grew || number_at(reply, 11) == 1)
        counter.note_recall(grew, now.steady);
    if (!gives)
        counter.note_silence(session_.terms().time_to_live, now.steady);
    // Parts of another number may have been rounded up: only a store that knows what others hold
    // can say that there is as much.
    const bool all_is_counted = !counter.others_lack && (gives || !has_parts(counter.of));
    const bool uses_all = (grew || all_is_counted) && !leaving_;
    take_leases(counter, reply, sent, counter.held + units_at(reply, 6) > counter.number);
    use_share(counter, uses_all ? counter.held : counter.share, now);
    const limits::LeaseCover* const leases = leases_of(counter.of);
    if (leases != nullptr && leases->has_report() && !leaving_)
        return sync(counter, counter.share, now); // reported while the call was on its way
    if (counter.unasked && !leaving_ && counter.share < counter.whole())
        return sync(counter, counter.share, now); // its answer is for those who want
    const bool recalls = number_at(reply, 11) == 1 && !counter.awaits_recall();
    if (recalls && first && gives && !leaving_ && counter.is_used_up(now))
        begin_recall_wait(counter, sent, now);
    if (!gives || now.steady >= counter.answer_by || !counter.is_used_up(now)) {
        end_recall_wait(counter, now);
        tell(counter, gives);
    }
    look_again(counter, now);
}

// The store has asked the others to give up a part. That takes two more round trips, so the wants
// wait for it, and those that come meanwhile.
void ShareClient::begin_recall_wait(ShareCounter& counter, const Sent& sent, const Now& now) {
    counter.answer_by = sent.at + session_.terms().recall_wait;
    counter.ask_after = now.steady;
    use_share(counter, counter.share, now);
}

void ShareClient::end_recall_wait(ShareCounter& counter, const Now& now) {
    if (!counter.awaits_recall())
        return;
    counter.answer_by = {};
    counter.ask_after = counter.synced_at + counter.backoff;
    use_share(counter, counter.share, now);
}

void ShareClient::tell(const ShareCounter& counter, bool gives) {
    if (gives)
        listener_.answered(counter.name);
    else
        listener_.failed(counter.name);
}

// Arranges the next look after a reply; gives up at once what others lack, and all if the call was
// from before the gateway's leave.
void ShareClient::look_again(ShareCounter& counter, const Now& now) {
    if (leaving_ && !counter.left)
        return sync(counter, 0, now);
    if (counter.others_lack && counter.share > counter.part)
        return sync(counter, counter.part, now);
    const bool waits = counter.awaits_recall();
    if (waits && counter.heard == Heard::gives)
        return sync(counter, counter.share, now);
    const SteadyTime later = waits ? counter.answer_by : now.steady + counter.pause_looks();
    schedule(counter, std::min(counter.next_look(now.steady), later));
    if (counter.heard != Heard::nothing)
        follow(counter, counter.heard, now);
}

// Takes what the reply says about a lock's leases, before its slots are used. overbooked: all
// gateways together hold more than there is.
void ShareClient::take_leases(
    const ShareCounter& counter, const Reply& reply, const Sent& sent, bool overbooked) {
    limits::LeaseCover* const leases = leases_of(counter.of);
    if (leases == nullptr)
        return;
    leases->note_fence(units_at(reply, 14));
    leases->note_span(std::chrono::milliseconds{number_at(reply, 15)});
    if (const std::uint64_t fences = units_at(reply, 13); fences > 0)
        leases->add_fences(units_at(reply, 12), fences);
    leases->cover(leaving_ ? 0 : counter.held, sent.span, !overbooked);
}

void ShareClient::beaten(const Session::Beaten& beaten, SteadyTime ended, const Now& now) {
    listener_.session_moved();
    if (beaten.lost)
        lose_shares(ended, now);
    if (trust_ == Trust::in_next_epoch && !trust(now))
        trust_answered({}, now);
    if (!beaten.new_epoch)
        return;
    untold_ = counters_.size();
    for (auto& [name, counter] : counters_) {
        counter.told = false;
        schedule(counter, now.steady);
    }
}

// The shares may be others' now. What was used of them still counts; but no lease that was granted
// before the session's end lives after the longest one, even if its end was not noted yet.
void ShareClient::lose_shares(SteadyTime ended, const Now& now) {
    for (auto& [name, counter] : counters_) {
        limits::LeaseCover* const leases = leases_of(counter.of);
        if (leases != nullptr)
            leases->uncover();
        if (leases != nullptr && now.steady >= ended + leases->span())
            counter.held = 0;
        use_share(counter, 0, now);
        const limits::Numbers whole = counter.of.numbers;
        counter.held =
            std::min(counter.held, counter.of.limit->use(charge_on(counter.of, whole), now));
        if (counter.of.limit->identity().algorithm == limits::Algorithm::token_bucket)
            slow_down(counter, now);
    }
}

// A token bucket's debt is paid off no faster than what is held of it allows: others may have the
// rest.
void ShareClient::slow_down(ShareCounter& counter, const Now& now) {
    const limits::Numbers held = counter.numbers(counter.held);
    if (counter.of.limit->set_share(counter.of.key, {held, SteadyTime{}}, now)) // admits nothing
        use_share(counter, 0, now);
}

} // namespace stint::shared
