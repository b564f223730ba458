#include "admin/explain.hpp"

#include "admin/explain_recent.hpp"
#include "base/ip_address.hpp"
#include "base/lock_names.hpp"
#include "routing/charges.hpp"
#include "routing/fence.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace stint::admin {
namespace {

using routing::Charges;
using routing::RouteLimit;

constexpr std::array<std::string_view, 6> members{"method",    "host",        "path",
                                                  "client_ip", "tls_subject", "headers"};

std::string in_quotes(std::string_view name) {
    return std::string{'"'}.append(name).append("\"");
}

// Reads members of the description, and remembers the first thing that is wrong.
class Description {
  public:
    explicit Description(const Json& json) : json_{json} {
        for (const auto& [name, value] : json.items())
            if (std::ranges::find(members, name) == members.end())
                wrong(
                    in_quotes(name) +
                    " is unknown: there are method, host, path, client_ip, tls_subject, headers");
    }

    void text(const char* name, std::string& into) {
        const auto found = json_.find(name);
        if (found == json_.end())
            return;
        if (!found->is_string())
            return wrong(in_quotes(name) + " must be a text");
        into = found->get<std::string>();
        one_line(name, into);
    }

    void fields(std::vector<std::pair<std::string, std::string>>& into) {
        const auto found = json_.find("headers");
        if (found == json_.end())
            return;
        if (!found->is_object())
            return wrong("\"headers\" must be an object of names and texts");
        for (const auto& [name, value] : found->items()) {
            const Json values = value.is_array() ? value : Json::array({value});
            for (const Json& each : values) {
                if (!each.is_string())
                    return wrong("\"headers\" has a value that is no text: " + name);
                into.emplace_back(name, each.get<std::string>());
                one_line("headers", into.back().second);
            }
        }
    }

    void wrong(std::string why) {
        if (!wrong_)
            wrong_ = std::move(why);
    }
    [[nodiscard]] const std::optional<std::string>& what_is_wrong() const { return wrong_; }

  private:
    void one_line(const std::string& name, const std::string& value) {
        if (value.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
            wrong(in_quotes(name) + " has a line end in it");
    }

    const Json& json_;
    std::optional<std::string> wrong_;
};

std::string_view to_text(limits::Refusal refusal) {
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

// Returns a limit's name and its key for the request, without its state.
Json limit_json(const RouteLimit& limit, const routing::KeyFacts& facts, std::string& scratch) {
    const limits::LimitIdentity& identity = limit.limit->identity();
    Json json{{"name", identity.name}};
    if (!limit.key.empty()) {
        const routing::Key key = limit.key.evaluate(facts, scratch);
        json["key"] = identity.key;
        json["key_value"] = key.missing ? Json(nullptr) : Json(key.text);
    }
    return json;
}

void add_state(Json& json, const limits::Charge& charge, const limits::ChargeState& state) {
    json["limit"] = charge.quota;
    json["used"] = state.counter.used;
    json["remaining"] = state.counter.remaining;
    json["resets_in_ms"] = ceil_ms(state.counter.resets_in);
    json["would_refuse"] = state.refusal != limits::Refusal::none;
    if (state.refusal != limits::Refusal::none)
        json["because"] = to_text(state.refusal);
    if (!charge.enforce)
        json["enforced"] = false;
}

Json rejected(int status, std::string_view detail) {
    return {{"decision", "reject"}, {"status", status}, {"because", detail}};
}

routing::ShownFence::Fault
fence_fault(const routing::Route& route, const routing::KeyFacts& facts) {
    if (route.fence == nullptr)
        return routing::ShownFence::Fault::none;
    return routing::ShownFence{facts.method, facts.fields}.against(*route.fence);
}

Json explanation(const routing::Route& route, const routing::KeyFacts& facts, const Now& now) {
    std::string scratch;
    const Charges charges = routing::charges_of(route, facts, scratch);
    std::array<limits::ChargeState, limits::max_charges> states{};
    limits::Decision decision;
    if (charges.denied_by == nullptr)
        decision = limits::preview(charges.view(), now, states);
    Json limits = Json::array();
    for (std::size_t i = 0; i < route.limits.size(); ++i) {
        const RouteLimit& limit = route.limits[i];
        Json json = limit_json(limit, facts, scratch);
        const auto charged = std::ranges::find(charges.limits, &limit);
        if (charges.exempt >> i & 1U)
            json["exempt"] = true;
        else if (charges.denied_by == nullptr && charged != charges.limits.end()) {
            const auto index = static_cast<std::size_t>(charged - charges.limits.begin());
            add_state(json, charges.charges[index], states[index]);
        }
        limits.push_back(std::move(json));
    }
    Json json{{"decision", "admit"}, {"route", route.name}};
    if (route.fence != nullptr)
        json["require_fence"] = lock_name(route.fence->identity().name);
    if (const auto fault = fence_fault(route, facts); fault != routing::ShownFence::Fault::none) {
        json["decision"] = "deny";
        json["status"] = 412;
        json["decided_by"] = route.fence->identity().name;
        json["because"] = routing::describe(fault);
    } else if (charges.denied_by != nullptr) {
        json["decision"] = "deny";
        json["status"] = 403;
        json["decided_by"] = charges.denied_by->limit->identity().name;
        json["because"] = routing::describe(*charges.denied_by, charges.denial);
    } else if (!decision.allowed()) {
        json["decision"] = "refuse";
        json["status"] = 429;
        json["decided_by"] = charges.limits[decision.refused_by]->limit->identity().name;
        json["because"] = to_text(decision.refusal);
        if (decision.refusal != limits::Refusal::cost)
            json["retry_after_ms"] = ceil_ms(decision.retry_after);
    }
    json["limits"] = std::move(limits);
    return json;
}

} // namespace

Result<runtime::SyntheticRequest, Response> described_in(std::string_view body) {
    auto object = object_in(
        body, "The body must be a JSON object such as {\"method\": \"GET\", \"host\": "
              "\"shop.example\", \"path\": \"/\", \"client_ip\": \"192.0.2.1\", \"headers\": {}}.");
    if (!object)
        return std::move(object).error();
    const Json& json = *object;
    runtime::SyntheticRequest request;
    Description description{json};
    description.text("method", request.method);
    description.text("host", request.host);
    description.text("path", request.target);
    description.text("client_ip", request.client);
    description.text("tls_subject", request.tls_subject);
    description.fields(request.fields);
    if (!request.client.empty() && !IpAddress::parse(request.client))
        description.wrong("\"client_ip\" is not an IP address");
    if (description.what_is_wrong())
        return problem(400, *description.what_is_wrong() + ".");
    return request;
}

namespace {

// Returns request_id of a body that has this member alone.
std::optional<std::string> request_id_in(std::string_view body) {
    const auto json = object_in(body, {});
    if (!json || json->size() != 1 || !json->contains("request_id") ||
        !(*json)["request_id"].is_string())
        return std::nullopt;
    return (*json)["request_id"].get<std::string>();
}

Response explain_described(const runtime::Gateway& gateway, std::string_view body) {
    const auto request = described_in(body);
    if (!request)
        return request.error();
    runtime::RequestReader reader;
    const routing::SnapshotPtr snapshot = gateway.compiled().snapshot;
    const auto seen = reader.read(*request, *snapshot, gateway.hasher());
    if (!seen)
        return json_response(rejected(seen.error().status, seen.error().detail));
    if (seen->match.route == nullptr)
        return json_response(
            seen->match.path_matched
                ? rejected(405, "routes take this host and path, but none this method")
                : rejected(404, "no route takes this host and path"));
    Json json = explanation(*seen->match.route, seen->facts, gateway.now());
    const routing::Route& route = *seen->match.route;
    if (route.answer != nullptr)
        json["responds_with"] = route.answer->status;
    else
        json["upstream"] = snapshot->upstreams[route.upstream].name;
    return json_response(json);
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
