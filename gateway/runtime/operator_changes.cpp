#include "runtime/operator_changes.hpp"

#include "base/error.hpp"
#include "http/permit_text.hpp"
#include "net/clock.hpp"
#include "observe/json_line.hpp"
#include "runtime/enforced_pairs.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace stint::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto pause_after_failure = 1s;

// Returns ` by "WHO": "WHY"`, without the parts that are not known. The operator's texts are
// quoted, so that they cannot be mistaken for Stint's own words in the log.
std::string text_of(const Attribution& by) {
    std::string text;
    if (!by.who.empty())
        observe::append_json_string(text += " by ", by.who);
    if (!by.why.empty())
        observe::append_json_string(text += ": ", by.why);
    return text;
}

std::string end_of(const LimitChange& change, const Now& now) {
    if (!change.expires)
        return {};
    std::string text{" until "};
    observe::append_rfc3339(text, now.wall + (*change.expires - now.steady));
    return text;
}

} // namespace

OperatorChanges::OperatorChanges(
    boost::asio::io_context& control,
    locks::LockManager& locks,
    limits::AdmissionQueue& queue,
    Publish publish)
    : locks_{locks}, queue_{queue}, publish_{std::move(publish)}, ends_{control} {}

bool OperatorChanges::put(LimitChange change) {
    const LimitChange::Target target = change.target;
    const std::string line = "limit " + target.limit + ": " + std::string{subject_of(target.kind)} +
                             " was set" + end_of(change, net::read_clocks()) + text_of(change.by);
    unpublished_.push_back(target);
    if (!overlay_.limits().put(std::move(change))) {
        unpublished_.pop_back();
        return false;
    }
    ends_.expires_at(next_end());
    spdlog::info("{}", line);
    publish();
    return true;
}

bool OperatorChanges::erase(const LimitChange::Target& target, const Attribution& by) {
    unpublished_.push_back(target);
    if (!overlay_.limits().erase(target)) {
        unpublished_.pop_back();
        return false;
    }
    spdlog::info("limit {}: {} was ended{}", target.limit, subject_of(target.kind), text_of(by));
    publish();
    return true;
}

void OperatorChanges::restore(std::vector<LimitChange> saved, const config::Config& config) {
    LimitChanges& limits = overlay_.limits();
    for (LimitChange& change : saved)
        (void)limits.put(std::move(change));
    for (const EnforcedPair& pair : enforced_pairs(config, enforced_limits(config, limits)))
        for (const std::size_t index : {pair.one, pair.other})
            if (const config::Limit& limit = config.limits[index];
                !limit.enforce && limits.erase({limit.name, LimitChange::Kind::enforce, {}}))
                spdlog::warn(
                    "limit {}: a switch of enforce that was made at run time has ended, because {}",
                    limit.name, reason_of(pair, config));
}

void OperatorChanges::publish() {
    publish_(unpublished_);
    unpublished_.clear();
}

SteadyTime OperatorChanges::next_end() const noexcept {
    return overlay_.limits().next_end().value_or(SteadyTime::max());
}

// Ends the changes that have expired, and publishes all unpublished changes, also those of an
// earlier call that failed.
void OperatorChanges::end_expired(SteadyTime now) {
    const std::vector<LimitChange::Target> ended = overlay_.limits().ended_by(now);
    unpublished_.insert(unpublished_.end(), ended.begin(), ended.end());
    for (const LimitChange::Target& each : ended) {
        (void)overlay_.limits().erase(each);
        spdlog::info("limit {}: {} has expired", each.limit, subject_of(each.kind));
    }
    publish();
}

// Waits for the next expiry, again and again. The handler begins the next wait before all else:
// that wait reuses the memory of the one that has ended, and the later steps may run out of memory.
void OperatorChanges::await_next_end() {
    ends_.async_wait([this](const ErrorCode&) {
        if (stopped_)
            return;
        const SteadyTime now = net::read_steady_clock();
        const bool due = next_end() <= now || !unpublished_.empty();
        ends_.expires_at(due ? now + pause_after_failure : next_end());
        await_next_end();
        if (!due)
            return;
        try {
            end_expired(now);
            ends_.expires_at(next_end());
        } catch (const std::bad_alloc&) {
            // Tried again after the pause.
        }
    });
}

bool OperatorChanges::clear_counters(
    const ConfiguredLimit& of, const std::optional<Key>& key, const Attribution& by) {
    const Now now = net::read_clocks();
    const std::string& name = of.limit->identity().name;
    const bool done = of.limit->forget(key ? std::optional{key->hash} : std::nullopt, now);
    queue_.update_quota(
        *of.limit, [&](const auto& each) { return of.numbers_for(each); }, of.enforce);
    if (!done)
        return false;
    spdlog::info(
        "limit {}: the counters of {} were cleared{}", name, key ? "a key" : "all keys",
        text_of(by));
    overlay_.cleared().add({name, key ? std::optional{key->text} : std::nullopt, now.wall, by});
    return true;
}

upstream::EndpointStatePtr OperatorChanges::set_drained(
    const routing::UpstreamSpec& upstream,
    std::string_view endpoint,
    bool drained,
    const Attribution& by) {
    const auto found =
        std::ranges::find(upstream.endpoints, endpoint, &routing::EndpointSpec::text);
    if (found == upstream.endpoints.end())
        return nullptr;
    const Now now = net::read_clocks();
    if (drained)
        overlay_.drain(upstream.name, found->state, now, by);
    else
        overlay_.enable(upstream.name, found->state, now);
    spdlog::info(
        "upstream {}: {} was {}{}", upstream.name, found->text, drained ? "drained" : "enabled",
        by == Attribution{} ? " by an operator" : text_of(by));
    return found->state;
}

bool OperatorChanges::end_lease(
    std::string_view lock, std::string_view lease, const Attribution& by) {
    const Now now = net::read_clocks();
    const auto id = http::parse_lease(lease);
    if (!id || !locks_.end(lock, *id, locks::EndReason::forced, now))
        return false;
    overlay_.ended_leases().add({std::string{lock}, std::string{lease}, now.wall, by});
    return true;
}

void OperatorChanges::start() {
    ends_.expires_at(next_end());
    await_next_end();
}

void OperatorChanges::stop() noexcept {
    stopped_ = true;
    try {
        ends_.cancel();
    } catch (const std::exception&) {
        // Then the wait ends with the event loop.
    }
}

} // namespace stint::runtime
