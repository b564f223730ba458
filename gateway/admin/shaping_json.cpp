#include "admin/shaping_json.hpp"

#include <string>
#include <vector>

namespace stint::admin {
namespace {

// Not what they are set to: that may be a secret between Stint and the upstream.
Json names_json(const std::vector<config::FieldEdits::Set>& fields) {
    Json json = Json::object();
    for (const config::FieldEdits::Set& each : fields)
        json[each.name] = "(hidden)";
    return json;
}

Json set_json(const std::vector<config::FieldEdits::Set>& fields) {
    Json json = Json::object();
    for (const config::FieldEdits::Set& each : fields)
        json[each.name] = each.value;
    return json;
}

void add_edits_json(const char* key, const config::FieldEdits& edits, Json& json) {
    if (!edits.set.empty())
        json[key]["set_headers"] = names_json(edits.set);
    if (!edits.remove.empty())
        json[key]["remove_headers"] = edits.remove;
}

void add_rewrite_json(const config::PathRewrite& rewrite, Json& json) {
    using Kind = config::PathRewrite::Kind;
    if (rewrite.kind == Kind::regex)
        json["rewrite"] = {{"regex", rewrite.regex->pattern()}, {"to", rewrite.to}};
    else if (rewrite.kind == Kind::prefix && rewrite.to.empty())
        json["strip_prefix"] = rewrite.from.empty() ? "/" : rewrite.from;
    else
        json["rewrite"] = rewrite.to;
}

Json respond_json(const config::Answer& answer) {
    Json json{{"status", answer.status}, {"body", answer.body}};
    if (!answer.content_type.empty())
        json["content_type"] = answer.content_type;
    if (!answer.headers.empty())
        json["headers"] = set_json(answer.headers);
    return json;
}

} // namespace

void add_shaping_json(const config::Shaping& shaping, Json& json) {
    add_edits_json("request", shaping.request, json);
    add_edits_json("response", shaping.response, json);
}

void add_action_json(const config::Config& config, const config::Route& route, Json& json) {
    if (!route.answer)
        json["upstream"] = config.upstreams[route.upstream].name;
    else if (!route.answer->location.empty())
        json["redirect"] = {{"to", route.answer->location}, {"status", route.answer->status}};
    else
        json["respond"] = respond_json(*route.answer);
    if (route.host)
        json["host"] = route.host->empty() ? std::string{"keep"} : *route.host;
    if (route.rewrite)
        add_rewrite_json(*route.rewrite, json);
    add_shaping_json(route.shaping, json);
}

const config::Upstream& upstream_of(const config::Config& config, const config::Route& route) {
    static const config::Upstream none;
    return route.answer ? none : config.upstreams[route.upstream];
}

} // namespace stint::admin
