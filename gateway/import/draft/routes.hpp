// The routes of the draft: for each server, host and location one.
#pragma once

#include "base/path_rules.hpp"
#include "import/draft/fields.hpp"
#include "import/draft/limits.hpp"
#include "import/draft/matches.hpp"
#include "import/draft/names.hpp"
#include "import/draft/upstreams.hpp"
#include "import/draft/yaml.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::import_nginx {

// A server with the hosts of its routes.
struct HostedServer {
    const Server* server = nullptr;
    std::vector<std::string> hosts; // "*" for the default server
    Scheme scheme = Scheme::http;
};

// Bounds of a draft. One that would be larger refuses everything: a part of the routes would let
// through what the others refuse.
inline constexpr std::size_t most_routes = 50'000;
inline constexpr std::size_t most_locations = 10'000; // a server's

class Routes {
  public:
    // All references outlive this. client_header: client_ip_header; "" without trusted_proxies.
    // hosts: those of all servers.
    Routes(
        const Model& model,
        Report& report,
        Limits& limits,
        Upstreams& upstreams,
        std::string client_header,
        std::set<std::string> hosts)
        : model_{model}, report_{report}, limits_{limits}, upstreams_{upstreams},
          client_header_{std::move(client_header)}, hosts_{std::move(hosts)},
          rules_{.merge_slashes = model.merge_slashes} {}

    // Adds the routes of a server. name_hosts: their names begin with the host.
    void add(const HostedServer& hosted, bool name_hosts);
    // Returns the section `routes`.
    [[nodiscard]] const Node& section() const noexcept { return section_; }
    // True if nginx changes a Location of an upstream that Stint leaves as it is: by default
    // (proxy_redirect), where the upstream is asked by its own name.
    [[nodiscard]] bool lacks_redirect() const noexcept { return lacks_redirect_; }

  private:
    struct Context; // a location that is being written

    const Location* named_location(const Context& context, const Action& action);
    bool fits(const HostedServer& hosted, std::size_t matches);
    void refuse_everything(const Server& server, std::string_view why);
    static bool answers(const Server& server, const std::string& host);
    void add_answers(const HostedServer& hosted, const std::string& server_name);
    Node body_of_named(
        const Context& context, const Location& named, std::vector<std::string>& comments);
    void lose_named(const Server& server, bool has_rest);
    void add_route(const Context& context, const std::string& host, bool name_hosts);
    Node body_of(const Context& context, std::vector<std::string>& comments);
    void answer_files(const Context& context, Node& body, std::vector<std::string>& comments);
    void add_limits(const Context& context, std::vector<Node> limits, Node& body);
    void answer_action(const Context& context, const Action& action, Node& body);
    void answer_first(
        const Context& context,
        const Action& action,
        Node& body,
        std::vector<std::string>& comments);
    void answer(const Context& context, const Directive& by, Node& body);
    void refuse(std::uint64_t status, const Settings& settings, Node& body);
    void forward(const Context& context, Node& body, std::vector<std::string>& comments);
    bool restrict_access(const Context& context, std::vector<Node>& limits, Node& body);
    void add_path_change(const Context& context, const Target& target, Node& body);
    void add_rewrite(const Directive& rewrite, Node& body);
    void add_retry(const Settings& settings, std::size_t endpoints, Node& body);
    void add_timeouts(const Settings& settings, Node& body);

    const Model& model_;
    Report& report_;
    Limits& limits_;
    Upstreams& upstreams_;
    std::string client_header_; // in lower case
    std::set<std::string> hosts_;
    PathRules rules_;
    Names names_;
    std::set<std::string> answered_; // hosts of add_answers()
    Node section_ = Node::list();
    std::size_t counted_ = 0;         // routes
    bool refuses_everything_ = false; // a bound was passed
    bool lacks_redirect_ = false;
};

// The longest of nginx's time-outs for which Stint has one: body_idle.
[[nodiscard]] Milliseconds body_idle_of(const Settings& settings);

} // namespace stint::import_nginx
