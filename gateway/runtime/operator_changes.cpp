#include "runtime/operator_changes.hpp"

#include "base/error.hpp"
#include "http/permit_text.hpp"
#include "net/clock.hpp"
#include "observe/json_line.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace stint::runtime {
namespace {

// Returns the subject of a change, for the operational log. The key is not logged, because it may
// be a secret.
std::string_view subject_of(LimitChange::Kind kind) {
    switch (kind) {
    case LimitChange::Kind::numbers:
        return "an override";
    case LimitChange::Kind::block_key:
    case LimitChange::Kind::block_client:
        return "a block";
    case LimitChange::Kind::enforce:
        return "a switch of enforce";
    }
    return {};
}

// Returns " by WHO: WHY", without the parts that are not known.
std::string text_of(const Attribution& by) {
    std::string text;
    if (!by.who.empty())
        text.append(" by ").append(by.who);
    if (!by.why.empty())
        text.append(": ").append(by.why);
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
    : locks_{locks}, queue_{queue}, publish_{std::move(publish)}, next_end_{control} {}

bool OperatorChanges::put(LimitChange change) {
    const std::string limit = change.target.limit;
    const std::string line = "limit " + limit + ": " + std::string{subject_of(change.target.kind)} +
                             " was set" + end_of(change, net::read_clocks()) + text_of(change.by);
    if (!overlay_.limits().put(std::move(change)))
        return false;
    spdlog::info("{}", line);
    publish({limit});
    return true;
}

bool OperatorChanges::erase(const LimitChange::Target& target, const Attribution& by) {
    if (!overlay_.limits().erase(target))
        return false;
    spdlog::info("limit {}: {} was ended{}", target.limit, subject_of(target.kind), text_of(by));
    publish({target.limit});
    return true;
}

void OperatorChanges::restore(std::vector<LimitChange> saved) {
    for (LimitChange& change : saved)
        (void)overlay_.limits().put(std::move(change));
}

void OperatorChanges::publish(const std::set<std::string>& limits) {
    publish_(limits);
    await_next_end();
}

void OperatorChanges::await_next_end() {
    const auto end = overlay_.limits().next_end();
    if (!end || stopped_) {
        next_end_.cancel();
        return;
    }
    next_end_.expires_at(*end);
    next_end_.async_wait([this](const ErrorCode& error) {
        if (error || stopped_)
            return;
        const std::vector<LimitChange> ended = overlay_.limits().expire(net::read_steady_clock());
        std::set<std::string> limits;
        for (const LimitChange& each : ended) {
            limits.insert(each.target.limit);
            spdlog::info(
                "limit {}: {} has expired", each.target.limit, subject_of(each.target.kind));
        }
        if (ended.empty())
            await_next_end();
        else
            publish(limits);
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
    overlay_.cleared().add({name, key ? key->text : std::string{}, now.wall, by});
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
    await_next_end();
}

void OperatorChanges::stop() noexcept {
    stopped_ = true;
    next_end_.cancel();
}

} // namespace stint::runtime
