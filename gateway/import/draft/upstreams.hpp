// The upstreams of the draft: one for each upstream or address that proxy_pass names, and for each
// other set of TLS settings.
#pragma once

#include "import/draft/names.hpp"
#include "import/draft/yaml.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace stint::import_nginx {

// The parts of the address of proxy_pass.
struct Target {
    bool tls = false;
    std::string server; // "app", "app:8080", "[::1]:80" or "unix:/path"
    std::string uri;    // from the "/" behind it; "": none
    std::string fault;  // why the draft cannot have it; "": it can

    // The Host that nginx sends: $proxy_host.
    [[nodiscard]] std::string host() const;
};

// Reads the argument of proxy_pass. Variables that `set` gives one constant value are replaced.
[[nodiscard]] Target target_of(const std::string& argument, const Model& model);

struct UpstreamDraft {
    std::string name; // empty: it cannot be carried over, which has been reported
    std::size_t endpoints = 0;
};

class Upstreams {
  public:
    // model, report: outlive this.
    Upstreams(const Model& model, Report& report) : model_{model}, report_{report} {}

    // use: the proxy_pass.
    [[nodiscard]] UpstreamDraft
    find(const Target& target, const UpstreamTls& tls, const Directive& use);
    // Reports the upstreams that no route uses.
    void report_unused() const;
    // Returns the section `upstreams`.
    [[nodiscard]] const Node& section() const noexcept { return section_; }

  private:
    using Identity = std::tuple<std::string, bool, UpstreamTls>;

    UpstreamDraft make(const Target& target, const UpstreamTls& tls, const Directive& use);
    std::size_t add_endpoints(const UpstreamGroup& group, bool tls, Node& endpoints);
    void add_balance(const UpstreamGroup& group, Node& body);

    const Model& model_;
    Report& report_;
    Names names_;
    std::map<Identity, UpstreamDraft> made_;
    Node section_ = Node::map();
};

} // namespace stint::import_nginx
