#include "admin/explain.hpp"

#include "admin/explain_recent.hpp"
#include "admission/request_admission.hpp"
#include "base/lock_names.hpp"
#include "routing/charges.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace stint::admin {
namespace {

using admission::Next;
using routing::AppliedLimit;
using routing::LimitTerms;

// Callbacks for a preview, which neither charges limits nor enters the queue.
class ExplainCallbacks final : public admission::Callbacks {
  public:
    explicit ExplainCallbacks(limits::AdmissionQueue& queue) noexcept : queue_{queue} {}

    [[nodiscard]] limits::AdmissionQueue& queue() noexcept override { return queue_; }
    [[nodiscard]] admission::QueuedCharges& make_queued() override {
        throw std::logic_error{"a preview does not enter the queue"};
    }
    void drop_queued() noexcept override {}

  private:
    limits::AdmissionQueue& queue_;
};

std::string_view refusal_text(limits::Refusal refusal) {
    switch (refusal) {
    case limits::Refusal::none:
        break;
    case limits::Refusal::window:
        return "its requests are used up";
    case limits::Refusal::pace:
        return "its next request is not due yet";
    case limits::Refusal::cap:
        return "as many are in flight as may be";
    case limits::Refusal::cost:
        return "the request costs more than it ever has";
    case limits::Refusal::table_full:
        return "it cannot count another key at present";
    }
    return "";
}

// Describes one of the route's limits: its name, its key and the key's value for the request.
Json limit_json(const LimitTerms& limit, const routing::KeyFacts& facts, std::string& scratch) {
    const limits::LimitIdentity& identity = limit.limit->identity();
    Json json{{"name", identity.name}};
    if (!limit.key.empty()) {
        const routing::Key key = limit.key.evaluate(facts, scratch);
        json["key"] = identity.key;
        json["key_value"] = key.missing ? Json(nullptr) : Json(key.text);
    }
    return json;
}

void add_state(Json& json, const limits::Charge& charge, const limits::CounterState& state) {
    json["limit"] = charge.quota;
    json["used"] = state.used;
    json["remaining"] = state.remaining;
    json["resets_in_ms"] = ceil_ms(state.resets_in);
    if (!charge.enforce)
        json["enforced"] = false;
}

void add_refusal(
    Json& json,
    const LimitTerms& limit,
    const limits::Charge& charge,
    limits::Refusal refusal,
    const Now& now) {
    const bool waits = refusal != limits::Refusal::none && limit.dry_run_wait > Duration::zero() &&
                       limits::would_wait(charge, limit.dry_run_wait, now);
    json["would_refuse"] = refusal != limits::Refusal::none && !waits;
    if (limit.dry_run_wait > Duration::zero())
        json["would_wait"] = waits;
    if (refusal != limits::Refusal::none)
        json["because"] = refusal_text(refusal);
}

// Describes all limits of the route. seen: the previewed decision, with the state of the limits
// that it would charge.
Json limits_json(
    const routing::Snapshot& snapshot,
    const routing::Route& route,
    const routing::KeyFacts& facts,
    const admission::Preview& seen,
    const Now& now) {
    std::string scratch;
    const routing::Charges charges = routing::charges_of(route, snapshot.limits, facts, scratch);
    Json all = Json::array();
    for (std::size_t i = 0; i < route.limits.size(); ++i) {
        const AppliedLimit limit = snapshot.on(route, i);
        Json json = limit_json(*limit.terms, facts, scratch);
        if (charges.exempt >> i & 1U)
            json["exempt"] = true;
        const auto charged = std::ranges::find(charges.limits, limit);
        const auto asked = std::ranges::find(seen.charges.limits, limit);
        if (asked != seen.charges.limits.end()) {
            const auto at = static_cast<std::size_t>(asked - seen.charges.limits.begin());
            add_state(json, seen.charges.charges[at], seen.states[at].counter);
            add_refusal(json, *limit.terms, seen.charges.charges[at], seen.states[at].refusal, now);
        } else if (charges.denial == routing::Denial::none && charged != charges.limits.end()) {
            const auto at = static_cast<std::size_t>(charged - charges.limits.begin());
            const limits::Charge& charge = charges.charges[at];
            add_state(json, charge, charge.limit->state_of(charge, now));
        }
        all.push_back(std::move(json));
    }
    return all;
}

std::string_view decision_of(admission::RequestAdmission& decided, Next next) {
    switch (next) {
    case Next::forward:
    case Next::respond:
        return "admit";
    case Next::wait_queue:
    case Next::wait_shares:
    case Next::wait_cooldown:
        return "wait";
    case Next::reply:
        break;
    }
    const observe::Outcome outcome = decided.ending().outcome;
    if (outcome == observe::Outcome::rejected || outcome == observe::Outcome::no_route)
        return "reject";
    return decided.reply().is_denial() ? "deny" : "refuse";
}

// Returns the reason why the request is not admitted at once.
std::string reason_for(
    admission::RequestAdmission& decided,
    Next next,
    const admission::Preview& seen,
    const std::string& upstream) {
    const admission::LocalReply& reply = decided.reply();
    if (next == Next::wait_cooldown || reply.is_pause())
        return "the upstream " + upstream +
               (seen.elsewhere ? " asked another gateway for a pause" : " asked for a pause");
    if (next == Next::wait_queue)
        return "other requests are before it, or its limit is used up for now";
    if (decided.ending().outcome == observe::Outcome::refused && !reply.is_denial())
        return std::string{refusal_text(seen.decision.refusal)};
    if (decided.ending().status == 405)
        return "routes take this host and path, but none this method";
    if (decided.ending().status == 200)
        return "Max-Forwards ends this OPTIONS here";
    return std::string{reply.detail()};
}

void add_reply(Json& json, admission::RequestAdmission& decided) {
    const admission::LocalReply& reply = decided.reply();
    json["status"] = decided.ending().status;
    json["outcome"] = observe::to_text(decided.ending().outcome);
    if (!reply.limit().empty())
        json["decided_by"] = reply.limit();
    if (const auto retry_after = reply.retry_after())
        json["retry_after_ms"] = ceil_ms(*retry_after);
}

Response explain_described(runtime::Gateway& gateway, std::string_view body) {
    const auto request = described_in(body);
    if (!request)
        return request.error();
    runtime::RequestReader reader;
    const routing::SnapshotPtr snapshot = gateway.compiled().snapshot;
    auto seen = reader.read(*request, *snapshot, gateway.hasher());
    if (!seen)
        return json_response(
            {{"decision", "reject"},
             {"status", seen.error().status},
             {"outcome", observe::to_text(observe::Outcome::rejected)},
             {"because", seen.error().detail}});
    proxy::Shared& shared = gateway.pool().shared();
    ExplainCallbacks callbacks{shared.admission_queue};
    admission::Scratch scratch;
    admission::Preview preview;
    admission::RequestAdmission decided{
        admission::Door::explain,
        {.snapshot = *snapshot,
         .scratch = scratch,
         .callbacks = callbacks,
         .ticket_hasher = &shared.ticket_hasher,
         .prepaid = &shared.prepaid,
         .preview = &preview}};
    const Now now = gateway.now();
    const Next next = decided.decide(seen->head, seen->facts, 0, now);
    const routing::Route* const route = decided.route();
    const bool forwards = route != nullptr && route->answer == nullptr;
    const std::string upstream = forwards ? (*snapshot->upstreams)[route->upstream].name : "";
    Json json{{"decision", decision_of(decided, next)}};
    if (route != nullptr)
        json["route"] = route->name;
    if (route != nullptr && route->fence != nullptr)
        json["require_fence"] = lock_name(route->fence->identity().name);
    if (next == Next::reply)
        add_reply(json, decided);
    if (next == Next::wait_queue)
        json["decided_by"] =
            preview.charges.limits[preview.decision.refused_by]->limit->identity().name;
    if (next == Next::wait_queue || next == Next::wait_cooldown)
        json["wait_ms"] = ceil_ms(preview.wait);
    if (next != Next::forward && next != Next::respond)
        json["because"] = reason_for(decided, next, preview, upstream);
    if (route == nullptr)
        return json_response(json);
    json["limits"] = limits_json(*snapshot, *route, seen->facts, preview, now);
    if (forwards)
        json["upstream"] = upstream;
    else
        json["responds_with"] = route->answer->status;
    return json_response(json);
}

// Returns the request_id of a body that has only this member; nullopt for any other body.
std::optional<std::string> request_id_in(std::string_view body) {
    const auto json = object_in(body, {});
    if (!json || json->size() != 1 || !json->contains("request_id") ||
        !(*json)["request_id"].is_string())
        return std::nullopt;
    return (*json)["request_id"].get<std::string>();
}

} // namespace

net::Task<Response> explain(runtime::Gateway& gateway, std::string body) {
    const auto request_id = request_id_in(body);
    if (!request_id)
        co_return explain_described(gateway, body);
    Response response = co_await explain_recent(gateway, *request_id);
    co_return response;
}

} // namespace stint::admin
