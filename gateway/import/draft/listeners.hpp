// The listeners of the draft, and which servers of nginx have routes for which hosts.
#pragma once

#include "import/draft/routes.hpp"
#include "import/draft/yaml.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace stint::import_nginx {

// Stint's routes serve all listeners, and nginx's servers some. So this finds the listeners that
// only redirect to https, leaves out servers that only this machine may reach if others may reach
// the rest, and reports what is reachable in the draft and was not in nginx.
class Listeners {
  public:
    // model, report: outlive this.
    Listeners(const Model& model, Report& report);

    // The servers that have routes, with their hosts.
    [[nodiscard]] const std::vector<HostedServer>& servers() const noexcept { return hosted_; }
    // The section `listeners`.
    [[nodiscard]] Node section();
    // True if a listener begins its connections with a PROXY header.
    [[nodiscard]] bool has_proxy_protocol() const;

  private:
    struct Listener {
        std::string address;
        std::vector<const Server*> servers{}; // the default server first
        std::vector<const Listen*> listens{}; // the `listen` of each server
        bool redirects = false;               // to https, and nothing else
        std::uint64_t redirect_port = 443;
        bool dropped = false;
    };

    void collect();
    void find_redirects();
    void compare_redirect(const Listener& listener, const Server& server);
    void drop_local();
    void compare();
    void choose_hosts();
    [[nodiscard]] bool is_default_name(const std::string& host, const Server& server) const;
    [[nodiscard]] bool has_routes(const Server& server) const;
    [[nodiscard]] std::vector<std::string> hosts_of(const Server& server, bool is_default);
    [[nodiscard]] Scheme scheme_of(const Server& server) const;
    [[nodiscard]] Node listener_node(const Listener& listener);
    void add_tls(const Listener& listener, Node& node);
    void add_versions(const Listener& listener, Node& tls);
    void add_client_ca(const Listener& listener, Node& tls);
    [[nodiscard]] Node certificates_of(const Listener& listener) const;

    const Model& model_;
    Report& report_;
    std::vector<Listener> listeners_;
    std::vector<HostedServer> hosted_;
    std::map<std::string, const Server*> by_host_;
    // The default server with its names, if these have no routes of their own: its routes are for
    // any host. In nginx a server at the same address has none of them.
    const Server* default_ = nullptr;
    std::set<std::string> default_names_;
};

} // namespace stint::import_nginx
