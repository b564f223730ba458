// The limits of the draft: one for each zone, and for each other set of numbers with which it is
// used.
#pragma once

#include "import/draft/names.hpp"
#include "import/draft/yaml.hpp"
#include "import/read/model.hpp"
#include "import/report.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stint::import_nginx {

struct Key;

class Limits {
  public:
    // model, report: outlive this.
    Limits(const Model& model, Report& report) : model_{model}, report_{report} {}

    // Returns the references to the limits that hold where these settings do, for a route's
    // `limits`. server: the name of the server, for keys with $server_name.
    [[nodiscard]] std::vector<Node> references(const Settings& settings, const std::string& server);

    // Returns the references for `deny` of single networks; empty if there is none, or if the rules
    // say more than that.
    [[nodiscard]] std::vector<Node> denials(const std::vector<AccessRule>& rules);

    // Returns the section `limits`.
    [[nodiscard]] Node section() const;

  private:
    struct Entry {
        std::string name{}; // empty: the zone cannot be carried over
        int status = 503;
        Node body = Node::map();
        std::vector<std::string> comments{};
    };

    // The use of a zone, by limit_req or limit_conn.
    struct ZoneUse {
        const std::map<std::string, Zone>& zones;
        const std::string& zone;
        std::string numbers; // uses with other ones are other limits
        bool dry_run = false;
        int status = 503;
        const Directive& at;
    };

    Node reference(const Entry& draft, int status) const;
    const Entry& limit_of(
        const ZoneUse& use,
        const std::string& server,
        const std::function<void(const Zone& zone, Entry& draft)>& fill);
    const Entry& request_limit(const RequestLimit&, const Settings&, const std::string& server);
    const Entry&
    connection_limit(const ConnectionLimit&, const Settings&, const std::string& server);
    const Entry* find(const std::string& identity) const;
    const Entry& keep(const std::string& identity, Entry draft);
    bool fill_key(const Zone& zone, const Key& key, const Directive& use, Entry& draft);
    std::string take_name(
        const std::string& zone, const Key& key, const std::string& server, const Directive& use);

    const Model& model_;
    Report& report_;
    Names names_;
    std::map<std::string, std::size_t> by_identity_;
    std::map<std::string, const Directive*> first_use_; // by zone and server
    std::vector<Entry> drafts_;
};

} // namespace stint::import_nginx
