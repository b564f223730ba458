#include "runtime/compile_shape.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace stint::runtime {
namespace {

// Returns the form in which FieldEdits::dropped compares names: lower case, with '-' for '_'.
std::string folded(std::string_view name) {
    std::string text{name};
    std::ranges::transform(
        text, text.begin(), [](char c) { return c == '_' ? '-' : http::ascii::lower(c); });
    return text;
}

// Adds the edits of `from`, except for header names that `edits` already sets or removes.
void add(FieldEdits& edits, const config::FieldEdits& from) {
    const std::vector<std::string> known = edits.dropped;
    const auto is_known = [&](const std::string& name) {
        return std::ranges::find(known, name) != known.end();
    };
    for (const config::FieldEdits::Set& each : from.set) {
        std::string name = folded(each.name);
        if (is_known(name))
            continue;
        edits.set.push_back({each.name, TextTemplate{each.value}});
        edits.dropped.push_back(std::move(name));
    }
    for (const std::string& each : from.remove) {
        std::string name = folded(each);
        if (!is_known(name))
            edits.dropped.push_back(std::move(name));
    }
}

routing::PathRewrite rewrite_of(const config::PathRewrite& from) {
    using From = config::PathRewrite::Kind;
    using Kind = routing::PathRewrite::Kind;
    const Kind kind = from.kind == From::prefix  ? Kind::prefix
                      : from.kind == From::whole ? Kind::whole
                                                 : Kind::regex;
    return {kind, from.from, from.to, from.regex};
}

} // namespace

routing::RouteShapePtr shape_of(const config::Config& config, const config::Route& route) {
    routing::RouteShape shape;
    add(shape.request, route.shaping.request);
    add(shape.response, route.shaping.response);
    if (!route.answer) {
        const config::Shaping& upstream = config.upstreams[route.upstream].shaping;
        add(shape.request, upstream.request);
        add(shape.response, upstream.response);
    }
    if (route.rewrite)
        shape.path = rewrite_of(*route.rewrite);
    shape.host = route.host;
    shape.grpc_unavailable = route.grpc_unavailable;
    if (shape.empty())
        return nullptr;
    return std::make_shared<const routing::RouteShape>(std::move(shape));
}

std::shared_ptr<const FixedAnswer> answer_of(const config::Route& route) {
    if (!route.answer)
        return nullptr;
    FixedAnswer answer;
    answer.status = route.answer->status;
    answer.content_type = route.answer->content_type;
    answer.body = TextTemplate{route.answer->body};
    answer.location = TextTemplate{route.answer->location};
    for (const config::FieldEdits::Set& each : route.answer->headers) {
        answer.fields.push_back({each.name, TextTemplate{each.value}});
        answer.names_server = answer.names_server || folded(each.name) == "server";
    }
    return std::make_shared<const FixedAnswer>(std::move(answer));
}

routing::UpstreamSpec::ProxyProtocol proxy_protocol_of(const config::Upstream& upstream) {
    using Protocol = routing::UpstreamSpec::ProxyProtocol;
    switch (upstream.proxy_protocol) {
    case config::Upstream::ProxyProtocol::v1:
        return Protocol::v1;
    case config::Upstream::ProxyProtocol::v2:
        return Protocol::v2;
    case config::Upstream::ProxyProtocol::off:
        break;
    }
    return Protocol::off;
}

routing::PathPattern path_of(const config::Match& match) {
    using Kind = routing::PathPattern::Kind;
    switch (match.kind) {
    case config::Match::Path::exact:
        return {Kind::exact, match.path, {}};
    case config::Match::Path::regex:
        return {Kind::regex, match.path, match.regex};
    case config::Match::Path::prefix:
        break;
    }
    return {Kind::prefix, match.path, {}};
}

} // namespace stint::runtime
