#include "import/draft/listeners.hpp"

#include "config/values/match_values.hpp"
#include "config/yaml/diagnostics.hpp"

#include <algorithm>
#include <utility>

namespace stint::import_nginx {

namespace {

// Returns true if a name such as "*.b.example" or ".b.example" stands for the host.
bool covers(std::string_view name, std::string_view host) {
    name.remove_prefix(name.starts_with("*.") ? 1 : 0);
    return name.starts_with('.') && host.ends_with(name);
}

// The names of a server, but those without a host; ".b.example" stands for two.
std::vector<ServerName> names_of(const Server& server) {
    std::vector<ServerName> names;
    for (const auto& [name, at] : server.names) {
        if (name.empty() || name == "_")
            continue;
        if (name.starts_with('.')) {
            names.push_back({name.substr(1), at});
            names.push_back({'*' + name, at});
        } else {
            names.push_back({name, at});
        }
    }
    return names;
}

bool shares_listener(const Server& one, const Server& other) {
    return std::ranges::any_of(one.listens, [&other](const Listen& listen) {
        return std::ranges::find(other.listens, listen.address, &Listen::address) !=
               other.listens.end();
    });
}

bool covers_one_of(const Server& server, const Server& other) {
    return std::ranges::any_of(server.names, [&other](const ServerName& name) {
        return std::ranges::any_of(
            other.names, [&name](const ServerName& host) { return covers(name.text, host.text); });
    });
}

} // namespace

Listeners::Listeners(const Model& model, Report& report) : model_{model}, report_{report} {
    collect();
    find_redirects();
    drop_local();
    compare();
    choose_hosts();
}

void Listeners::collect() {
    for (const Server& server : model_.servers)
        for (const Listen& listen : server.listens) {
            auto found = std::ranges::find(listeners_, listen.address, &Listener::address);
            if (found == listeners_.end()) {
                listeners_.push_back({.address = listen.address});
                found = std::prev(listeners_.end());
            }
            if (std::ranges::find(found->servers, &server) != found->servers.end())
                continue;
            const auto index =
                listen.is_default ? 0 : static_cast<std::ptrdiff_t>(found->servers.size());
            found->servers.insert(found->servers.begin() + index, &server);
            found->listens.insert(found->listens.begin() + index, &listen);
        }
}

bool Listeners::has_routes(const Server& server) const {
    return std::ranges::any_of(listeners_, [&server](const Listener& listener) {
        return !listener.redirects && !listener.dropped &&
               std::ranges::find(listener.servers, &server) != listener.servers.end();
    });
}

void Listeners::drop_local() {
    const auto is_local = [](const Listener& listener) { return listener.listens.front()->local; };
    if (std::ranges::all_of(listeners_, is_local))
        return;
    for (Listener& listener : listeners_) {
        const bool only_here = std::ranges::all_of(listener.servers, [](const Server* server) {
            return std::ranges::all_of(server->listens, &Listen::local);
        });
        if (!is_local(listener) || !only_here)
            continue;
        listener.dropped = true;
        for (const Listen* const listen : listener.listens)
            report_.lose(
                *listen->at,
                "only this machine reaches it, and Stint's routes serve all listeners; "
                "left out with its server: run another Stint for it");
    }
}

// Reports servers that clients reach at listeners where nginx does not have them.
void Listeners::compare() {
    for (const Server& server : model_.servers) {
        if (!has_routes(server))
            continue;
        std::string more;
        for (const Listener& listener : listeners_)
            if (!listener.redirects && !listener.dropped &&
                std::ranges::find(listener.servers, &server) == listener.servers.end())
                more += (more.empty() ? "" : ", ") + listener.address;
        if (!more.empty())
            report_.lose(
                *server.at, "Stint's routes serve all listeners: in the draft it is reached at " +
                                more + ", too");
    }
}

Scheme Listeners::scheme_of(const Server& server) const {
    bool clear = false, encrypted = false;
    for (const Listener& listener : listeners_)
        for (std::size_t i = 0; i < listener.servers.size(); ++i)
            if (listener.servers[i] == &server && !listener.redirects) {
                clear = clear || !listener.listens[i]->tls;
                encrypted = encrypted || listener.listens[i]->tls;
            }
    return clear && encrypted ? Scheme::both : encrypted ? Scheme::https : Scheme::http;
}

// Returns true for a name that the default server of the same address has before this one.
bool Listeners::is_default_name(const std::string& host, const Server& server) const {
    return default_ != nullptr && default_names_.contains(host) &&
           shares_listener(*default_, server);
}

// Returns the hosts of a server's routes. Those of another server are reported.
std::vector<std::string> Listeners::hosts_of(const Server& server, bool is_default) {
    std::vector<std::string> hosts;
    const bool others_cover = std::ranges::any_of(model_.servers, [&](const Server& other) {
        return &other != &server && covers_one_of(other, server);
    });
    const auto add = [&](const ServerName& name) {
        const auto host = config::parse_host_pattern(name.text);
        if (!host || name.text == "*")
            return report_.lose(
                *name.at,
                config::in_quotes(name.text) + " is no host that Stint matches; left out");
        const Server* owner = default_;
        if (!is_default_name(*host, server)) {
            const auto [found, added] = by_host_.try_emplace(*host, &server);
            owner = found->second;
            if (added)
                hosts.push_back(*host);
        }
        if (owner != &server)
            report_.lose(
                *name.at, config::in_quotes(name.text) + " is that of the server at " +
                              owner->at->at.text() + ", too; left out here");
    };
    if (is_default)
        hosts.emplace_back("*");
    if (is_default && !others_cover) {
        default_ = &server;
        for (const ServerName& name : names_of(server))
            if (const auto host = config::parse_host_pattern(name.text))
                default_names_.insert(*host);
        return hosts;
    }
    for (const ServerName& name : names_of(server))
        add(name);
    return hosts;
}

void Listeners::choose_hosts() {
    const Server* first = nullptr; // the default server of the draft
    for (const Listener& listener : listeners_) {
        if (listener.redirects || listener.dropped)
            continue;
        if (first == nullptr)
            first = listener.servers.front();
        if (listener.servers.front() != first)
            report_.lose(
                *listener.listens.front()->at, "is the default server of " + listener.address +
                                                   "; Stint has one for all listeners, "
                                                   "the server at " +
                                                   first->at->at.text());
    }
    for (const Server& server : model_.servers) {
        if (!has_routes(server))
            continue;
        HostedServer hosted{&server, hosts_of(server, &server == first), scheme_of(server)};
        if (hosted.hosts.empty())
            report_.lose(*server.at, "has no host for which it could have routes; left out");
        else
            hosted_.push_back(std::move(hosted));
    }
}

bool Listeners::has_proxy_protocol() const {
    return std::ranges::any_of(listeners_, [](const Listener& listener) {
        return !listener.dropped && std::ranges::any_of(listener.listens, [](const Listen* one) {
            return one->proxy_protocol;
        });
    });
}

Node Listeners::section() {
    Node section = Node::list();
    for (const Listener& listener : listeners_)
        if (!listener.dropped) {
            Node node = listener_node(listener);
            if (!node.empty())
                section.push(
                    std::move(node), {"listen (" + listener.listens.front()->at->at.text() + ")"});
        }
    if (section.empty()) {
        report_.lose(*model_.servers.front().at, "none of the listeners could be carried over");
        section.push(
            Node::map().add("address", Node::text("127.0.0.1:8080")).flow(),
            {"None of nginx's could be carried over: put in yours."});
    }
    return section;
}

} // namespace stint::import_nginx
