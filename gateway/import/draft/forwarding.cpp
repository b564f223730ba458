// Routes that forward: upstream, path, heads, time-outs, retries.
#include "config/fields/units.hpp"
#include "config/values/match_values.hpp"
#include "config/values/path_regex.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/route_context.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stint::import_nginx {

namespace {

// Returns the replacement of nginx's rewrite in Stint's spelling: "$1" is "\1". "" if it has other
// variables.
std::string replacement_of(std::string_view text) {
    std::string out;
    for (const Piece& piece : pieces_of(text)) {
        const bool group =
            piece.variable && piece.text.size() == 1 && piece.text >= "1" && piece.text <= "9";
        if (piece.variable && !group)
            return {};
        if (piece.text.find_first_of("?\\#") != std::string::npos)
            return {};
        out += group ? '\\' + piece.text : piece.text;
    }
    return out;
}

std::string sample_path(std::string to) {
    for (std::size_t at = 0; (at = to.find('\\', at)) != std::string::npos;)
        to.replace(at, 2, "x");
    return to;
}

Node regex_rewrite(const std::string& regex, const std::string& to) {
    Node node = Node::map();
    node.add("regex", Node::text(regex)).add("to", Node::text(to)).flow();
    return node;
}

} // namespace

Milliseconds body_idle_of(const Settings& settings) {
    return std::max({settings.read, settings.send, settings.client_body, settings.client_send});
}

// Adds the path that the upstream gets, if proxy_pass has one.
void Routes::add_path_change(const Context& context, const Target& target, Node& body) {
    const std::string& begin = context.match.begin;
    const std::string uri = encoded_path(target.uri);
    if (target.uri.empty() || begin.empty() || uri == begin)
        return;
    const Directive& by = *context.match.location->action.at;
    if (!config::parse_sent_path(uri))
        return report_.lose(by, "has a path that Stint does not send; left out");
    const bool segments = context.match.kind == LocationMatch::Kind::prefix && begin.ends_with('/');
    if (segments && uri == "/") {
        body.add("strip_prefix", Node::text(begin.substr(0, begin.size() - 1)));
    } else if (segments && uri.ends_with('/')) {
        body.add("rewrite", Node::text(uri.substr(0, uri.size() - 1)));
    } else if (context.match.kind == LocationMatch::Kind::exact) {
        body.add("rewrite", Node::text(uri));
    } else {
        body.add("rewrite", regex_rewrite(escaped_for_regex(begin) + "(.*)", uri + "\\1"));
    }
}

void Routes::add_rewrite(const Directive& rewrite, Node& body) {
    const std::string to = replacement_of(rewrite.args[1]);
    const std::string regex = whole_path_regex(rewrite.args[0], false);
    const auto parsed = config::parse_path_regex(regex, config::PathUse::other, rules_);
    const bool good = parsed && !to.empty() && (*parsed).rewrite_fault(to).empty() &&
                      config::parse_sent_path(sample_path(to));
    if (!good)
        return report_.lose(rewrite, "Stint has no such rewrite; left out");
    body.add("rewrite", regex_rewrite(regex, to));
}

void Routes::add_retry(const Settings& settings, std::size_t endpoints, Node& body) {
    const NextUpstream& next = settings.next_upstream;
    const auto has = [&next](std::string_view word) { return next.has(word); };
    if (has("off") || endpoints < 2)
        return;
    Node on = Node::list();
    if (has("error") || has("timeout"))
        on.push(Node::word("connect")).push(Node::word("reset"));
    for (const std::string_view status : {"500", "502", "503", "504"})
        if (has("http_" + std::string{status}))
            on.push(Node::word(std::string{status}));
    constexpr std::array<std::string_view, 4> beyond{
        "invalid_header", "http_403", "http_404", "http_429"};
    const bool loses = std::ranges::any_of(beyond, has);
    if (loses && next.at != nullptr)
        report_.lose(*next.at, "invalid_header, http_403, http_404 and http_429 are not retried");
    if (on.empty())
        return;
    const std::uint64_t tries =
        next.tries == 0 ? endpoints : std::min(next.tries, std::uint64_t{endpoints});
    if (tries < 2)
        return;
    Node retry = Node::map();
    retry.add("on", on.flow())
        .add("attempts", Node::number(std::min<std::uint64_t>(tries, 10)))
        .add("budget", Node::word("100%"));
    if (has("non_idempotent"))
        retry.add(
            "methods",
            Node::texts(
                {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "POST", "PATCH", "LOCK"}));
    body.add(
        "retry", retry.flow(),
        {"proxy_next_upstream. Not the same: a response that comes too late is not retried."});
}

// Adds the time-outs that differ from those of the whole draft.
void Routes::add_timeouts(const Settings& settings, Node& body) {
    Node timeouts = Node::map();
    const Settings& all = model_.settings;
    if (settings.connect != all.connect)
        timeouts.add("connect", Node::word(config::duration_text(settings.connect)));
    if (settings.read != all.read)
        timeouts.add("response", Node::word(config::duration_text(settings.read)))
            .add("tunnel_idle", Node::word(config::duration_text(settings.read)));
    if (body_idle_of(settings) != body_idle_of(all))
        timeouts.add("body_idle", Node::word(config::duration_text(body_idle_of(settings))));
    if (!timeouts.empty())
        body.add("timeouts", timeouts.flow());
}

void Routes::forward(const Context& context, Node& body, std::vector<std::string>& comments) {
    const Settings& settings = context.settings;
    const Action& action = context.match.location->action;
    const Target target = target_of(action.at->args.front(), model_);
    const UpstreamDraft upstream =
        target.fault.empty() ? upstreams_.find(target, settings.tls, *action.at) : UpstreamDraft{};
    if (upstream.name.empty()) {
        const std::string fault =
            target.fault.empty() ? "has no endpoint that Stint can reach" : target.fault;
        report_.lose(*action.at, fault + "; the draft answers 501");
        comments.push_back("proxy_pass could not be carried over: " + fault + ".");
        return refuse(501, settings, body);
    }
    body.add("upstream", Node::text(upstream.name));
    const RequestFields fields =
        request_fields(settings, {target.host(), context.server_name, client_header_}, report_);
    if (!fields.host.empty())
        body.add(
            "host", Node::text(fields.host),
            fields.host_note.empty() ? std::vector<std::string>{} : std::vector{fields.host_note});
    lacks_redirect_ =
        lacks_redirect_ || (settings.default_redirect && fields.host == target.host());
    if (action.rewrite != nullptr)
        add_rewrite(*action.rewrite, body);
    else
        add_path_change(context, target, body);
    if (!fields.upgrade)
        body.add("upgrade", Node::word("off"));
    if (settings.max_body != model_.settings.max_body)
        body.add(
            "max_body",
            Node::word(settings.max_body == 0 ? "off" : config::size_text(settings.max_body)));
    add_timeouts(settings, body);
    add_retry(settings, upstream.endpoints, body);
    Node request = Node::map();
    if (!fields.set.empty())
        request.add("set_headers", fields.set);
    if (!fields.removed.empty())
        request.add("remove_headers", fields.removed);
    if (!request.empty())
        body.add("request", request);
    const Node response = response_node(settings, report_);
    if (!response.empty())
        body.add("response", response);
}

} // namespace stint::import_nginx
