#include "admin/explain_recent.hpp"

#include "net/event.hpp"
#include "observe/json_line.hpp"

#include <optional>
#include <span>

namespace stint::admin {
namespace {

using proxy::RecentRequests;

Json key_json(const runtime::Gateway& gateway, const RecentRequests::Key& key, const Now& now) {
    const std::string& name = gateway.store().slots().refusals()[key.limit].second;
    Json json{{"name", name}, {"key_value", key.text()}};
    if (key.cut())
        json["cut"] = true;
    const auto index = gateway.store().limit_named(name);
    if (!index) {
        json["removed"] = true;
        return json;
    }
    const runtime::ConfiguredLimit& limit = gateway.compiled().limits[*index];
    const bool unknown = key.cut() || key.text().empty();
    const limits::Numbers numbers =
        limit.numbers_for(unknown ? std::nullopt : std::optional{key.text()});
    const limits::CounterState state = limit.limit->state_of(
        {.key = key.hash, .quota = numbers.quota, .burst = numbers.burst}, now);
    json["limit"] = numbers.quota;
    json["used"] = state.used;
    json["remaining"] = state.remaining;
    json["resets_in_ms"] = ceil_ms(state.resets_in);
    return json;
}

net::Task<std::optional<RecentRequests::Record>>
collected(runtime::Gateway& gateway, std::string request_id) {
    net::Event arrived;
    std::optional<RecentRequests::Record> record;
    // The callback is posted to this thread, so it never runs before wait().
    gateway.pool().find_recent(request_id, [&](const auto& found) {
        record = found;
        arrived.signal();
    });
    co_await arrived.wait();
    co_return record;
}

} // namespace

std::string_view to_text(RecentRequests::Kind kind) {
    switch (kind) {
    case RecentRequests::Kind::admitted:
        return "admit";
    case RecentRequests::Kind::refused:
        return "refuse";
    case RecentRequests::Kind::denied:
        return "deny";
    }
    return "";
}

Json recent_json(
    const runtime::Gateway& gateway, const RecentRequests::Record& record, const Now& now) {
    std::string at;
    observe::append_rfc3339(at, record.at);
    Json json{
        {"time", at},
        {"decision", to_text(record.kind)},
        {"route", gateway.store().slots().routes()[record.route]}};
    if (record.kind != RecentRequests::Kind::admitted)
        json["decided_by"] = gateway.store().slots().refusals()[record.decided_by].second;
    if (record.kind == RecentRequests::Kind::refused && record.retry_after != Duration::max())
        json["retry_after_ms"] = ceil_ms(record.retry_after);
    Json keys = Json::array();
    for (const RecentRequests::Key& key : std::span{record.keys}.first(record.key_count))
        keys.push_back(key_json(gateway, key, now));
    json["limits"] = std::move(keys);
    return json;
}

net::Task<Response> explain_recent(runtime::Gateway& gateway, std::string request_id) {
    const auto record = co_await collected(gateway, request_id);
    if (!record)
        co_return problem(
            404, "No worker remembers a request of that id: the last 2048 of each are kept that a "
                 "route with limits took.");
    Json json{{"request_id", request_id}};
    json.update(recent_json(gateway, *record, gateway.now()));
    co_return json_response(json);
}

} // namespace stint::admin
