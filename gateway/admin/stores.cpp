#include "admin/stores.hpp"

#include "runtime/gateway.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace stint::admin {
namespace {

using shared::SessionState;

std::int64_t milliseconds_in(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string_view word_for(const stores::StoreState& state) {
    if (!state.unfit.empty())
        return "unfit";
    if (!state.up)
        return "down";
    if (!state.unconfirmed.empty())
        return "unconfirmed";
    if (state.asking && state.withholds)
        return "withholding";
    return state.asking ? "ready" : name_of(state.session);
}

Json session_json(const stores::StoreState& state, SteadyTime now) {
    Json session{{"state", name_of(state.session)}, {"epoch", state.epoch}};
    session["learned"] = state.learned;
    if (state.session == SessionState::active)
        session["ends_in_ms"] = milliseconds_in(std::max(state.ends_at - now, Duration::zero()));
    return session;
}

Json voters_json(const stores::StoreState& state) {
    Json voters = Json::array();
    for (const redis::VoterState& each : state.voters) {
        Json voter{{"address", each.address}, {"up", each.up}};
        if (!each.names.empty())
            voter["names"] = each.names;
        if (!each.error.empty())
            voter["error"] = each.error;
        voters.push_back(std::move(voter));
    }
    return voters;
}

// Adds what names the server, if anything does.
void add_watch(Json& json, const stores::StoreSettings& settings, const stores::StoreState& state) {
    Json watch;
    if (settings.sentinels)
        watch["master"] = settings.sentinels->master;
    if (!state.unconfirmed.empty())
        watch["failure"] = state.unconfirmed;
    watch[settings.sentinels ? "servers" : "nodes"] = voters_json(state);
    if (settings.sentinels)
        json["sentinel"] = std::move(watch);
    else if (!settings.cluster.empty())
        json["cluster"] = std::move(watch);
}

Json store_json(const stores::Store& store, SteadyTime now) {
    const stores::StoreState state = store.state();
    const stores::StoreCounters& counters = store.counters();
    Json json{{"name", store.settings().name}, {"state", word_for(state)}};
    json["gateway_id"] = store.settings().gateway;
    if (!state.address.empty())
        json["address"] = state.address;
    if (state.up) {
        json["up_for_ms"] = milliseconds_in(now - state.up_since);
        json["round_trip_us"] =
            std::chrono::duration_cast<std::chrono::microseconds>(state.round_trip).count();
    }
    if (!state.unfit.empty())
        json["unfit"] = state.unfit;
    add_watch(json, store.settings(), state);
    if (!state.last_error.empty())
        json["last_error"] = {
            {"text", state.last_error}, {"ago_ms", milliseconds_in(now - state.last_error_at)}};
    json["session"] = session_json(state, now);
    json["limits"] = store.limits();
    json["locks"] = store.locks();
    json["counters"] = state.counters;
    json["pauses"] = {
        {"under_way", store.pauses()},
        {"learnt", counters.learnt_pauses.load()},
        {"unshared", store.unshared_pauses()}};
    json["wants"] = {
        {"total", counters.wants.load()},
        {"told", counters.told.load()},
        {"failed", counters.failed.load()}};
    json["calls"] = {{"total", counters.calls.load()}, {"failed", counters.failed_calls.load()}};
    json["sessions"] = counters.sessions.load();
    json["times_down"] = counters.downs.load();
    return json;
}

} // namespace

Json stores_json(const runtime::SharedStores& stores, SteadyTime now) {
    Json all = Json::array();
    for (const stores::StorePtr& store : stores)
        all.push_back(store_json(*store, now));
    return all;
}

Json store_words(const runtime::SharedStores& stores) {
    Json words = Json::object();
    for (const stores::StorePtr& store : stores)
        words[store->settings().name] = word_for(store->state());
    return words;
}

Response trust_store(const runtime::Gateway& gateway, const std::string& name) {
    const runtime::SharedStores& stores = gateway.store().in_force()->stores;
    const auto found = std::ranges::find_if(
        stores, [&](const stores::StorePtr& each) { return each->settings().name == name; });
    if (found == stores.end())
        return problem(404, "There is no store of that name.");
    if (!(*found)->trust())
        return problem(
            409,
            "The store does not answer, or this gateway has no session there: see GET /stores.");
    Response response = json_response({{"told", name}});
    response.status = 202; // the log has whether the store has taken it
    return response;
}

} // namespace stint::admin
