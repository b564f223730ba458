#include "import/import.hpp"

#include "config/fields/units.hpp"
#include "config/values/match_values.hpp"
#include "config/values/networks.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/limits.hpp"
#include "import/draft/listeners.hpp"
#include "import/draft/routes.hpp"
#include "import/draft/upstreams.hpp"
#include "import/read/reader.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace stint::import_nginx {

namespace {

// Adds the peers that are trusted for the client's address. Returns the name of client_ip_header;
// "" if there are none.
std::string add_trust(const Model& model, bool proxy_protocol, Report& report, Node& draft) {
    const RealIp& real_ip = model.real_ip;
    std::vector<std::string> trusted;
    for (const auto& [network, at] : real_ip.trusted)
        if (network == "unix" || config::parse_network(network))
            trusted.push_back(network);
        else
            report.lose(*at, config::in_quotes(network) + " is no network; left out");
    const bool nobody = trusted.empty();
    if (nobody && proxy_protocol)
        trusted.emplace_back("127.0.0.1");
    if (trusted.empty()) {
        if (real_ip.header_at != nullptr)
            report.note(*real_ip.header_at, "without set_real_ip_from it has no effect in nginx");
        return {};
    }
    std::vector<std::string> comments{"set_real_ip_from."};
    if (!real_ip.recursive && !proxy_protocol)
        comments.emplace_back(
            "Not the same: nginx takes the last address of the header, Stint the last one that is "
            "not trusted itself (real_ip_recursive).");
    if (nobody)
        comments = {"Put in the balancers that send PROXY headers: others cannot connect."};
    draft.add("trusted_proxies", Node::texts(trusted), std::move(comments));
    const std::string header = real_ip.header.empty() ? "X-Real-IP" : real_ip.header;
    if (header == "proxy_protocol" || nobody)
        return {};
    if (!config::is_token(header)) {
        report.lose(*real_ip.header_at, "is no header");
        return {};
    }
    draft.add("client_ip_header", Node::text(header));
    return config::lower(header);
}

void add_times(const Model& model, Node& draft) {
    const Settings& all = model.settings;
    Node times = Node::map();
    times.add("head", Node::word(config::duration_text(std::max(model.head, Milliseconds{1}))))
        .add("body_idle", Node::word(config::duration_text(body_idle_of(all))))
        .add("idle", Node::word(config::duration_text(model.idle)))
        .add("connect", Node::word(config::duration_text(all.connect)))
        .add("response", Node::word(config::duration_text(all.read)))
        .add("tunnel_idle", Node::word(config::duration_text(all.read)));
    draft.add(
        "timeouts", times.flow(),
        {"client_header_timeout, keepalive_timeout, proxy_connect_timeout, proxy_read_timeout, or "
         "nginx's defaults. body_idle is the longest of client_body_timeout, send_timeout, "
         "proxy_read_timeout and proxy_send_timeout: Stint has one for all four."});
    draft.add(
        "max_body", Node::word(all.max_body == 0 ? "off" : config::size_text(all.max_body)),
        {"client_max_body_size, or nginx's default."});
    if (model.max_head && model.max_target)
        draft
            .add(
                "max_head", Node::word(config::size_text(*model.max_head)),
                {"large_client_header_buffers."})
            .add("max_target", Node::word(config::size_text(*model.max_target)));
}

void add_logs(const Model& model, Node& draft) {
    if (!model.access_log.empty())
        draft.add(
            "access_log", Node::map()
                              .add(
                                  "path", model.access_log == "off" ? Node::word("off")
                                                                    : Node::text(model.access_log))
                              .flow());
    if (!model.log_level.empty())
        draft.add("log", Node::map().add("level", Node::word(model.log_level)).flow());
}

std::string heading(const std::string& file, const std::vector<Finding>& findings) {
    const auto lost = std::ranges::count_if(findings, &Finding::lost);
    std::string text = "# Draft of `stint import-nginx`, from " + comment_text(file) + ".\n";
    text += lost == 0
                ? "# Everything was carried over; the comments say where it behaves otherwise.\n"
                : "# Not carried over (" + std::to_string(lost) + "):\n";
    for (const Finding& one : findings)
        if (one.lost)
            text += "#   " + comment_text(one.text()) + '\n';
    return text + "# For metrics and changes at run time add: admin: {address: 127.0.0.1:9901}\n\n";
}

std::string make_draft(const Model& model, Report& report) {
    Node draft = Node::map();
    Listeners listeners{model, report};
    draft.add("listeners", listeners.section());
    add_times(model, draft);
    if (!model.merge_slashes)
        draft.add("merge_slashes", Node::word("false"));
    std::string client_header = add_trust(model, listeners.has_proxy_protocol(), report, draft);
    add_logs(model, draft);
    Limits limits{model, report};
    Upstreams upstreams{model, report};
    std::set<std::string> hosts;
    for (const HostedServer& server : listeners.servers())
        hosts.insert(server.hosts.begin(), server.hosts.end());
    Routes routes{model, report, limits, upstreams, std::move(client_header), std::move(hosts)};
    for (const HostedServer& server : listeners.servers())
        routes.add(server, listeners.servers().size() > 1 || server.hosts.size() > 1);
    upstreams.report_unused();
    if (!upstreams.section().empty())
        draft.add("upstreams", upstreams.section());
    if (Node section = limits.section(); !section.empty())
        draft.add("limits", std::move(section));
    std::vector<std::string> comments;
    if (routes.lacks_redirect())
        comments.emplace_back(
            "Not the same: nginx turns a Location that begins with the URL of proxy_pass into one "
            "for the client (proxy_redirect); Stint changes no Location. With host: keep an "
            "upstream names the client's host itself.");
    draft.add("routes", routes.section(), std::move(comments));
    return draft.document();
}

// Returns the fault of a configuration without a server that could be read.
SyntaxFault no_server(const std::string& file, const std::vector<Finding>& findings) {
    for (const Finding& one : findings)
        if (one.directive == "server" || one.directive == "listen")
            return {one.at, one.directive + ": " + one.why};
    return {
        {std::make_shared<const std::string>(file), 1, 1},
        "found no server, expected one in http { }"};
}

} // namespace

bool Imported::whole() const {
    return std::ranges::none_of(findings, &Finding::lost);
}

Result<Imported, SyntaxFault>
import_text(std::string_view text, const std::string& file, const Sources& sources) {
    auto parsed = parse(text, file, sources);
    if (!parsed)
        return std::move(parsed).error();
    Report report;
    for (const MissingFile& one : parsed->missing)
        report.add(
            {one.at, "include",
             config::in_quotes(one.path) + (one.reason.empty()
                                                ? " has no file here"
                                                : " cannot be read: " + one.reason + "; left out"),
             !one.reason.empty()});
    const Model model = read_model(parsed->directives, sources.folder, report);
    if (model.servers.empty())
        return no_server(file, std::move(report).take());
    const std::string draft = make_draft(model, report);
    Imported imported;
    imported.findings = std::move(report).take();
    imported.draft = heading(file, imported.findings) + draft;
    return imported;
}

} // namespace stint::import_nginx
