#include "import/draft/upstreams.hpp"

#include "config/fields/units.hpp"
#include "config/schema/schema_upstreams.hpp"
#include "config/values/addresses.hpp"
#include "config/values/match_values.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/key.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace stint::import_nginx {

namespace {

// Returns the endpoint as Stint writes it; "" if it is none. server: of nginx, port 80 if left out.
std::string endpoint_of(const std::string& server, bool tls) {
    std::string address = server;
    const bool named_port = !config::split_host_port(address).port.empty();
    if (!address.starts_with("unix:") && !named_port)
        address += tls ? ":443" : ":80";
    if (tls)
        address.insert(0, "https://");
    return config::parse_endpoint(address) ? address : std::string{};
}

Node tls_node(const UpstreamTls& tls) {
    Node node = Node::map();
    const auto add = [&node](std::string_view key, const std::string& value) {
        if (!value.empty())
            node.add(key, Node::text(value));
    };
    add("ca", tls.ca);
    add("crl", tls.crl);
    add("server_name", tls.name);
    if (!tls.certificate.empty() && !tls.key.empty()) {
        add("certificate", tls.certificate);
        add("key", tls.key);
    }
    if (tls.verify && !*tls.verify)
        node.add("verify", Node::word("false"));
    node.flow();
    return node;
}

// An upstream's endpoints fail as in nginx: max_fails within fail_timeout, 1 and 10s if not set.
void add_ejection(const UpstreamGroup& group, std::size_t endpoints, Node& body) {
    const std::uint64_t failures = group.max_fails.value_or(1);
    if (endpoints < 2 || failures == 0)
        return;
    const Milliseconds time = group.fail_timeout.value_or(Milliseconds{10'000});
    const std::string span = config::duration_text(std::max(time, Milliseconds{1}));
    Node ejection = Node::map();
    ejection.add("failures", Node::number(std::min<std::uint64_t>(failures, 1000)))
        .add("for", Node::word(span))
        .add("most", Node::word(span));
    body.add(
        "ejection", ejection.flow(),
        {"max_fails and fail_timeout. Not the same: Stint counts failures in a row, 500, 502, 503 "
         "and 504 among them."});
}

std::string constant(const std::string& text, const Model& model) {
    std::string out;
    for (const Piece& piece : pieces_of(text)) {
        const auto found = piece.variable ? model.setters.find(piece.text) : model.setters.end();
        if (found != model.setters.end() && found->second != "$")
            out += found->second;
        else
            out += piece.variable ? "${" + piece.text + '}' : piece.text;
    }
    return out;
}

} // namespace

std::string Target::host() const {
    return server.starts_with("unix:") ? std::string{"localhost"} : server;
}

Target target_of(const std::string& argument, const Model& model) {
    Target target;
    std::string text = constant(argument, model);
    const std::size_t scheme = text.find("://");
    const std::string name = text.substr(0, scheme == std::string::npos ? 0 : scheme);
    target.tls = name == "https";
    if (has_variables(text))
        target.fault = "names its upstream by a variable; name an upstream in the draft";
    else if (name != "http" && name != "https")
        target.fault = "does not begin with http:// or https://";
    if (!target.fault.empty())
        return target;
    text.erase(0, scheme + 3);
    const bool is_unix = text.starts_with("unix:");
    const std::size_t end = is_unix ? text.find(':', 5) : text.find_first_of("/?");
    target.server = text.substr(0, end);
    target.uri = end == std::string::npos ? "" : text.substr(end + (is_unix ? 1 : 0));
    if (target.uri.find_first_of("?#") != std::string::npos)
        target.fault = "has a query; Stint does not add one";
    return target;
}

void Upstreams::add_balance(const UpstreamGroup& group, Node& body) {
    if (group.balance == "least_conn")
        body.add("balance", Node::word("least_requests"));
    if (group.balance != "hash")
        return;
    const Key key = key_of(group.hash_key, model_, {});
    if (!key.fault.empty() || key.sources.empty()) {
        report_.lose(*group.hash_at, "Stint has no such key; endpoints come in turn");
        return;
    }
    body.add("balance", Node::word("hash"))
        .add(
            "hash_key",
            key.sources.size() == 1 ? Node::text(key.sources.front()) : Node::texts(key.sources),
            {"Not the same: a key has another endpoint than in nginx."});
}

// Adds the endpoints. Returns their number.
std::size_t Upstreams::add_endpoints(const UpstreamGroup& group, bool tls, Node& endpoints) {
    std::set<std::string> addresses;
    for (const UpstreamServer& server : group.servers) {
        const std::string address = endpoint_of(server.address, tls);
        const char* const fault = address.empty()               ? " is no endpoint"
                                  : addresses.contains(address) ? " is there already"
                                  : addresses.size() == config::most_endpoints
                                      ? " is one endpoint too many (64)"
                                      : nullptr;
        if (fault != nullptr) {
            report_.lose(*server.at, config::in_quotes(server.address) + fault + "; left out");
            continue;
        }
        addresses.insert(address);
        Node entry = Node::map();
        entry.add("address", Node::text(address));
        if (server.weight != 1)
            entry.add("weight", Node::number(server.weight));
        if (server.max_connections != 0)
            entry.add("max_requests", Node::number(server.max_connections));
        const bool plain = server.weight == 1 && server.max_connections == 0;
        endpoints.push(plain ? Node::text(address) : entry.flow());
    }
    return addresses.size();
}

UpstreamDraft Upstreams::make(const Target& target, const UpstreamTls& tls, const Directive& use) {
    UpstreamGroup group;
    group.servers.push_back({.address = target.server, .at = &use});
    const auto named = model_.upstreams.find(target.server);
    const bool is_named = named != model_.upstreams.end();
    if (is_named)
        group = named->second;
    Node endpoints = Node::list();
    const std::size_t count = add_endpoints(group, target.tls, endpoints);
    if (count == 0)
        return {};
    Node body = Node::map();
    body.add("endpoints", endpoints);
    add_balance(group, body);
    add_ejection(group, count, body);
    if (target.tls && config::parse_host_field(target.host()))
        body.add("host", Node::text(target.host()));
    if (target.tls && !tls_node(tls).empty())
        body.add("tls", tls_node(tls));
    const std::string name = names_.take(target.server, "upstream");
    section_.add(
        name, body,
        {(is_named ? "upstream " : "proxy_pass to ") + target.server + " (" +
         (is_named ? group.at : &use)->at.text() + ")"});
    return {name, count};
}

UpstreamDraft Upstreams::find(const Target& target, const UpstreamTls& tls, const Directive& use) {
    const Identity identity{target.server, target.tls, target.tls ? tls : UpstreamTls{}};
    const auto known = made_.find(identity);
    if (known != made_.end() && !known->second.name.empty())
        return known->second;
    if (target.tls && !tls.verify)
        report_.note(
            use, "Stint verifies the certificate of the upstream, which nginx does not without "
                 "proxy_ssl_verify; see tls of an upstream");
    return made_[identity] = make(target, tls, use);
}

void Upstreams::report_unused() const {
    for (const auto& [name, group] : model_.upstreams) {
        const bool used = std::ranges::any_of(
            made_, [&name](const auto& one) { return std::get<0>(one.first) == name; });
        if (!used)
            report_.lose(*group.at, "no route of the draft uses it; left out");
    }
}

} // namespace stint::import_nginx
