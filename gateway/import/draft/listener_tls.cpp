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
    const Server* by = nullptr;
    bool wants = false; // one of them serves nobody without a certificate
    for (const Server* const server : listener.servers) {
        if (!server->clients.asks())
            continue;
        wants = wants || server->clients.mode == "on";
        if (by == nullptr)
            by = server;
        else if (by->clients.authority() != server->clients.authority())
            report_.lose(
                *server->at, "client_ca is that of all names of a listener; the first is taken");
    }
    if (by == nullptr)
        return;
    if (by != listener.servers.front() || listener.servers.size() > 1)
        report_.lose(
            *by->at, "ssl_verify_client is that of all names of a listener: the draft asks all of "
                     "their clients for certificates");
    tls.add("client_ca", Node::text(by->clients.authority()));
    if (!wants)
        tls.add("client_certificate", Node::word("optional"));
}

void Listeners::add_tls(const Listener& listener, Node& node) {
    Node tls = Node::map();
    tls.add("certificates", certificates_of(listener));
    const auto only_new = [this](const Server* server) {
        const auto& protocols = server->protocols.empty() ? model_.protocols : server->protocols;
        return !protocols.empty() && std::ranges::find(protocols, "TLSv1.2") == protocols.end();
    };
    if (std::ranges::all_of(listener.servers, only_new))
        tls.add("min_version", Node::word("1.3"));
    if (listener.servers.front()->rejects_handshake)
        tls.add("unknown_names", Node::word("refuse"));
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
    if (http2 && any(&Listen::tls))
        node.add("http", Node::texts({"h2", "http/1.1"}));
    else if (http2)
        node.add("h2c", Node::word("true"));
    if (any(&Listen::proxy_protocol) && model_.real_ip.trusted.empty())
        report_.lose(
            first_of_protocol(listener.listens),
            "Stint takes PROXY headers from trusted_proxies alone, nginx from everyone: put your "
            "balancers under trusted_proxies");
    if (any(&Listen::proxy_protocol))
        node.add("proxy_protocol", Node::word("true"));
    if (listener.redirects)
        node.add("redirect_http", Node::word("true"));
    return node;
}

} // namespace stint::import_nginx
