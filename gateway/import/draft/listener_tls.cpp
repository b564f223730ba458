// A listener's own settings: TLS, HTTP/2, the PROXY protocol.
#include "import/draft/listeners.hpp"

#include <algorithm>
#include <string>

namespace stint::import_nginx {

namespace {

// The `listen` that asks for a PROXY header.
const Directive& first_of_protocol(const std::vector<const Listen*>& listens) {
    return *(*std::ranges::find(listens, true, &Listen::proxy_protocol))->at;
}

} // namespace

Node Listeners::certificates_of(const Listener& listener) const {
    Node all = Node::list();
    std::set<std::string> seen;
    for (const Server* const server : listener.servers)
        for (const auto& [certificate, key] :
             server->certificates.empty() ? model_.certificates : server->certificates)
            if (!certificate.empty() && !key.empty() && seen.insert(certificate).second) {
                Node one = Node::map();
                one.add("certificate", Node::text(certificate)).add("key", Node::text(key));
                if (!server->staple.empty())
                    one.add("ocsp_staple", Node::text(server->staple));
                all.push(one.flow());
            }
    return all;
}

void Listeners::add_client_ca(const Listener& listener, Node& tls) {
    constexpr const char* of_all =
        "is that of all names of a listener: the draft asks all of their "
        "clients for certificates";
    const Server* by = nullptr;
    bool wants = false; // a server refuses clients without a certificate
    for (const Server* const server : listener.servers) {
        const ClientVerification& clients = server->clients;
        if (!clients.asks())
            continue;
        wants = wants || clients.mode == "on";
        if (by == nullptr)
            by = server;
        else if (by->clients.authority() != clients.authority())
            report_.lose(
                *clients.authority_at,
                "client_ca is that of all names of a listener; the first is taken");
        else if (by->clients.mode != clients.mode)
            report_.lose(*clients.at, of_all);
    }
    if (by == nullptr)
        return;
    const auto asks = [](const Server* server) { return server->clients.asks(); };
    if (!std::ranges::all_of(listener.servers, asks))
        report_.lose(*by->clients.at, of_all);
    tls.add("client_ca", Node::text(by->clients.authority()));
    if (!wants)
        tls.add("client_certificate", Node::word("optional"));
}

// Adds the lowest version. nginx takes it from the default server, whatever the others say.
void Listeners::add_versions(const Listener& listener, Node& tls) {
    const auto only_new = [](const Server* server) { return !server->protocols.has("TLSv1.2"); };
    const bool all_new = std::ranges::all_of(listener.servers, only_new);
    if (all_new)
        tls.add("min_version", Node::word("1.3"));
    for (const Server* const server : listener.servers)
        if (!server->protocols.has("TLSv1.3"))
            report_.lose(
                *server->protocols.at, "Stint has no highest version: the draft has TLS 1.3, too");
        else if (only_new(server) && !all_new)
            report_.lose(
                *server->protocols.at,
                "min_version is that of all names of a listener; the draft has TLS 1.2, too");
}

void Listeners::add_tls(const Listener& listener, Node& node) {
    Node tls = Node::map();
    tls.add("certificates", certificates_of(listener));
    add_versions(listener, tls);
    if (listener.servers.front()->rejects_handshake != nullptr)
        tls.add("unknown_names", Node::word("refuse"));
    for (const Server* const server : listener.servers)
        if (server->rejects_handshake != nullptr && server != listener.servers.front())
            report_.lose(
                *server->rejects_handshake,
                "Stint refuses unknown names, and not those of a server; left out");
    add_client_ca(listener, tls);
    node.add("tls", tls);
}

// Returns the listener's entry; an empty node if it cannot be carried over.
Node Listeners::listener_node(const Listener& listener) {
    const Listen& first = *listener.listens.front();
    const auto any = [&listener](bool Listen::*member) {
        return std::ranges::any_of(
            listener.listens, [member](const Listen* one) { return one->*member; });
    };
    const bool http2 =
        any(&Listen::http2) ||
        std::ranges::any_of(listener.servers, [](const Server* one) { return one->http2; });
    Node node = Node::map();
    node.add("address", Node::text(listener.address));
    if (any(&Listen::tls) && certificates_of(listener).empty()) {
        report_.lose(*first.at, "no server has a certificate for it; left out");
        return Node::map();
    }
    if (any(&Listen::tls))
        add_tls(listener, node);
    if (!http2 && any(&Listen::tls))
        node.add("http", Node::texts({"http/1.1"}));
    else if (http2 && !any(&Listen::tls))
        node.add("h2c", Node::word("true"));
    if (any(&Listen::proxy_protocol) && model_.real_ip.trusted.empty())
        report_.lose(
            first_of_protocol(listener.listens),
            "Stint takes PROXY headers from trusted_proxies alone, nginx from everyone: put your "
            "balancers under trusted_proxies");
    if (any(&Listen::proxy_protocol))
        node.add("proxy_protocol", Node::word("true"));
    if (listener.redirects)
        node.add(
            "redirect_http",
            Node::word(
                listener.redirect_port == 443 ? "true" : std::to_string(listener.redirect_port)));
    return node;
}

} // namespace stint::import_nginx
