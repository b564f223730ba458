#include "admin/shaping_json.hpp"

#include "admin/config_json.hpp"
#include "config/fields/tables.hpp"

#include <string>
#include <utility>
#include <vector>

namespace stint::admin {
namespace {

Json set_json(const std::vector<config::FieldEdits::Set>& fields) {
    Json json = Json::object();
    for (const config::FieldEdits::Set& each : fields)
        json[each.name] = each.value;
    return json;
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

void add_shaping_json(const config::Shaping& shaping, const config::Config& config, Json& json) {
    for (const auto& [key, edits] :
         {std::pair{"request", &shaping.request}, std::pair{"response", &shaping.response}})
        if (!edits->set.empty() || !edits->remove.empty())
            json[key] = to_json(config::shown(config::edit_fields(), *edits, config));
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
    add_shaping_json(route.shaping, config, json);
}

const config::Upstream& upstream_of(const config::Config& config, const config::Route& route) {
    static const config::Upstream none;
    return route.answer ? none : config.upstreams[route.upstream];
}

} // namespace stint::admin
