// The store's answers, and what follows from them.
#include "shared/share_client.hpp"
#include "shared/share_timing.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace stint::shared {
namespace {

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
    if (sent.counter == nullptr)
        return beaten(session_.answered(reply, sent.at, now.steady), now);
    session_.note_time(reply, sent.at, now.steady);
    synced(*sent.counter, reply, sent, now);
}

void ShareClient::failed(std::uint64_t call, const Now& now) {
    const auto found = sent_.find(call);
    if (found == sent_.end())
        return;
    Counter* const counter = found->second.counter;
    sent_.erase(found);
    if (counter == nullptr)
        return; // the next beat is due anyway
    counter->call = 0;
    counter->ask_after = now.steady + least_backoff(counter->of);
    schedule(*counter, counter->ask_after);
}

void ShareClient::synced(Counter& counter, const Reply& reply, const Sent& sent, const Now& now) {
    counter.call = 0;
    const std::string_view answer = text_at(reply, 0);
    if (answer == "ok")
        return take_grant(counter, reply, sent, now);
    if (answer == "old")
        counter.seq = std::max(counter.seq, units_at(reply, 4));
    else
        session_.hasten(now.steady);
    schedule(counter, now.steady + least_backoff(counter.of));
}

void ShareClient::take_grant(
    Counter& counter, const Reply& reply, const Sent& sent, const Now& now) {
    const std::uint64_t granted = units_at(reply, 3);
    counter.part = units_at(reply, 4);
    counter.others_lack = units_at(reply, 5) == 1;
    counter.number = units_at(reply, 7);
    if (!counter.told && text_at(reply, 2) == session_.epoch()) {
        counter.told = true;
        untold_ -= 1;
        if (untold_ == 0)
            session_.hasten(now.steady);
    }
    counter.held = std::max(granted, sent.hold);
    if (counter.held == 0 && !counter.again && now.steady >= counter.demand_until)
        return forget(counter, now);
    const bool grew = granted > sent.hold;
    if (grew || !counter.others_lack)
        use_share(counter, counter.held, now);
    counter.backoff =
        grew ? Duration::zero()
             : std::clamp<Duration>(2 * counter.backoff, least_backoff(counter.of), most_backoff);
    counter.ask_after = now.steady + counter.backoff;
    counter.synced_at = now.steady;
    if (counter.others_lack && counter.share > counter.part)
        return sync(counter, counter.part, now);
    const SteadyTime soon = now.steady + between_looks(counter.of);
    const SteadyTime idle_look = now.steady + between_idle_looks(counter.of);
    schedule(counter, std::min(counter.others_lack ? soon : idle_look, next_look(counter)));
    if (counter.again)
        recall_at(counter, soon);
}

void ShareClient::beaten(const Session::Beaten& beaten, const Now& now) {
    for (const auto& [limit, kept] : limits_)
        limit->share_policy().end_at(session_.ends_at());
    if (beaten.lost)
        lose_shares(now);
    if (!beaten.new_epoch)
        return;
    untold_ = counters_.size();
    for (auto& [name, counter] : counters_) {
        counter.told = false;
        schedule(counter, now.steady);
    }
}

// The shares may be others' now. What was used of them still counts.
void ShareClient::lose_shares(const Now& now) {
    for (auto& [name, counter] : counters_) {
        use_share(counter, 0, now);
        const limits::Numbers whole = counter.of.numbers;
        counter.held =
            std::min(counter.held, counter.of.limit->use(charge_on(counter.of, whole), now));
    }
}

} // namespace stint::shared
