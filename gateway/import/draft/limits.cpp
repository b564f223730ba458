#include "import/draft/limits.hpp"

#include "config/fields/units.hpp"
#include "config/schema/schema.hpp"
#include "config/values/networks.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/draft/key.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace stint::import_nginx {

namespace {

using config::most_concurrent;
using config::most_requests;
using config::most_waiting;

bool refuses_at_once(const RequestLimit& limit) {
    return limit.delay >= limit.burst;
}

// The numbers of a limit_req: nginx's bucket leaks, and holds `burst` beside the request that is
// served.
void fill_bucket(const Zone& zone, const RequestLimit& limit, Node& body) {
    const std::uint64_t at_once = 1 + (refuses_at_once(limit) ? limit.burst : limit.delay);
    body.add("requests", Node::number(std::min(zone.requests, most_requests)))
        .add("per", Node::word(zone.per_minute ? "1m" : "1s"))
        .add("algorithm", Node::word("token_bucket"))
        .add("burst", Node::number(std::min(at_once, most_requests)));
    if (refuses_at_once(limit))
        return;
    const std::uint64_t waiting = std::min(limit.burst - limit.delay, most_waiting);
    const std::uint64_t window = zone.per_minute ? 60'000 : 1000;
    const Milliseconds wait{(waiting * window + zone.requests - 1) / zone.requests};
    body.add("when_exceeded", Node::word("wait"))
        .add("max_waiting", Node::number(waiting))
        .add("max_wait", Node::word(config::duration_text(wait)));
}

std::string rate_text(const Zone& zone) {
    return std::to_string(zone.requests) + (zone.per_minute ? " a minute" : " a second");
}

// The comments of a limit_req: what is the same, and what is not.
std::vector<std::string> bucket_comments(const Zone& zone, const RequestLimit& limit) {
    const std::string rate = rate_text(zone);
    std::vector<std::string> comments;
    if (refuses_at_once(limit)) {
        comments.push_back(
            "Same as nginx: " + std::to_string(limit.burst + 1) + " at once after a pause, then " +
            rate + ", others refused.");
    } else {
        comments.push_back(
            "Same as nginx: " + std::to_string(limit.delay + 1) + " at once after a pause, " +
            std::to_string(limit.burst - limit.delay) + " more wait for their turn at " + rate +
            ", others are refused.");
        comments.emplace_back(
            "Not the same: clients that wait for one counter take turns (fair_by); in nginx the "
            "first that came is the first that goes.");
    }
    if (zone.per_minute && zone.requests * 1000 % 60 != 0)
        comments.push_back(
            "Not the same: nginx rounds the rate down to " +
            std::to_string(zone.requests * 1000 / 60) + " thousandths of a request a second.");
    return comments;
}

void lose_large(Report& report, const Zone& zone, const RequestLimit& limit) {
    if (!refuses_at_once(limit) && limit.burst - limit.delay > most_waiting)
        report.lose(
            *limit.at,
            "lets more requests wait than Stint; the draft has " + std::to_string(most_waiting));
    if (zone.requests > most_requests || limit.burst >= most_requests)
        report.lose(
            *limit.at,
            "has larger numbers than Stint; the draft has " + std::to_string(most_requests));
}

} // namespace

// Adds the key. Returns false, after a report, if Stint has no such key.
bool Limits::fill_key(const Zone& zone, const Key& key, const Directive& use, Entry& draft) {
    const bool by_subject =
        std::ranges::find(key.sources, std::string{"tls:subject"}) != key.sources.end();
    const bool has_clients = std::ranges::any_of(
        model_.servers, [](const Server& server) { return server.clients.asks(); });
    const std::string fault = !key.fault.empty() ? key.fault
                              : by_subject && !has_clients
                                  ? "no server asks for certificates of clients"
                                  : std::string{};
    if (fault.empty() && key.always_empty) {
        report_.note(use, "the key of its zone is always empty here: nginx counts nothing");
        return false;
    }
    if (!fault.empty()) {
        report_.lose(
            use, "its zone counts by " + config::in_quotes(zone.key) + ", and " + fault +
                     "; the draft has no such limit");
        return false;
    }
    if (key.sources.size() == 1)
        draft.body.add("key", Node::text(key.sources.front()));
    else if (!key.sources.empty())
        draft.body.add("key", Node::texts(key.sources));
    if (!key.missing.empty())
        draft.body.add("missing_key", Node::word(key.missing));
    if (std::ranges::find(key.sources, std::string{"client_ip"}) != key.sources.end())
        draft.body.add("ipv6_prefix", Node::number(128));
    if (!key.exempt.empty())
        draft.body.add("exempt", Node::texts(key.exempt));
    for (const std::string& note : key.notes)
        draft.comments.push_back("Not the same: " + note + ".");
    return true;
}

const Limits::Entry* Limits::find(const std::string& identity) const {
    const auto found = by_identity_.find(identity);
    return found == by_identity_.end() ? nullptr : &drafts_[found->second];
}

const Limits::Entry& Limits::keep(const std::string& identity, Entry draft) {
    by_identity_.emplace(identity, drafts_.size());
    return drafts_.emplace_back(std::move(draft));
}

// Returns a name for a limit of the zone. Reports if the zone has another limit already, which
// counts by itself.
std::string Limits::take_name(
    const std::string& zone, const Key& key, const std::string& server, const Directive& use) {
    const std::string scope = key.per_server ? zone + '_' + server : zone;
    const auto [first, added] = first_use_.try_emplace(scope, &use);
    if (!added && first->second == &use)
        report_.lose(
            use, "nginx counts it in one zone with and without " + use.name +
                     "_dry_run; the draft counts each by itself");
    else if (!added)
        report_.lose(
            use, "nginx counts this and " + first->second->at.text() +
                     " in one zone, with other numbers; the draft counts each by itself");
    return names_.take(scope, "zone");
}

// Returns the limit of a zone's use, made by `fill` if there is none alike yet.
const Limits::Entry& Limits::limit_of(
    const ZoneUse& use,
    const std::string& server,
    const std::function<void(const Zone& zone, Entry& draft)>& fill) {
    const auto zone = use.zones.find(use.zone);
    const bool known_zone = zone != use.zones.end();
    const Key key = known_zone ? key_of(zone->second.key, model_, server) : Key{};
    const std::string identity = use.at.name + ' ' + use.numbers + (use.dry_run ? " dry " : " ") +
                                 use.zone + '\n' + (key.per_server ? server : "");
    if (const Entry* const known = find(identity))
        return *known;
    Entry draft{.status = use.status};
    if (!known_zone) {
        report_.lose(
            use.at, "no " + use.at.name + "_zone defines the zone " + config::in_quotes(use.zone));
        return keep(identity, std::move(draft));
    }
    Entry keyed;
    if (!fill_key(zone->second, key, use.at, keyed))
        return keep(identity, std::move(draft));
    draft.comments.push_back(zone->second.at->text() + ", " + use.at.text() + ".");
    fill(zone->second, draft);
    draft.body.append(std::move(keyed.body));
    std::ranges::move(keyed.comments, std::back_inserter(draft.comments));
    if (use.dry_run)
        draft.body.add("enforce", Node::word("false"));
    draft.body.add("status", Node::number(static_cast<std::uint64_t>(draft.status)));
    draft.name = take_name(use.zone, key, server, use.at);
    return keep(identity, std::move(draft));
}

const Limits::Entry& Limits::request_limit(
    const RequestLimit& limit, const Settings& settings, const std::string& server) {
    const std::string numbers = std::to_string(limit.burst) + ' ' +
                                std::to_string(refuses_at_once(limit) ? limit.burst : limit.delay);
    const ZoneUse use{model_.request_zones,    limit.zone, numbers, settings.request_dry_run,
                      settings.request_status, *limit.at};
    return limit_of(use, server, [&](const Zone& zone, Entry& draft) {
        lose_large(report_, zone, limit);
        std::ranges::move(bucket_comments(zone, limit), std::back_inserter(draft.comments));
        fill_bucket(zone, limit, draft.body);
    });
}

const Limits::Entry& Limits::connection_limit(
    const ConnectionLimit& limit, const Settings& settings, const std::string& server) {
    const std::string number = std::to_string(limit.number);
    const ZoneUse use{model_.connection_zones,    limit.zone, number, settings.connection_dry_run,
                      settings.connection_status, *limit.at};
    return limit_of(use, server, [&](const Zone&, Entry& draft) {
        draft.comments.push_back(
            "Same as nginx: at most " + number +
            " requests at once, each until its response has been sent.");
        if (limit.number > most_concurrent)
            report_.lose(
                *limit.at,
                "has a larger number than Stint; the draft has " + std::to_string(most_concurrent));
        draft.body.add("concurrent", Node::number(std::min(limit.number, most_concurrent)));
    });
}

Node Limits::reference(const Entry& draft, int status) const {
    if (draft.status == status)
        return Node::text(draft.name);
    return Node::map()
        .add("limit", Node::text(draft.name))
        .add("status", Node::number(static_cast<std::uint64_t>(status)))
        .flow();
}

std::vector<Node> Limits::references(const Settings& settings, const std::string& server) {
    std::vector<Node> found;
    std::set<std::string> names;
    const auto add = [&](const Entry& entry, int status, const Directive& use) {
        if (entry.name.empty())
            return;
        if (names.insert(entry.name).second)
            found.push_back(reference(entry, status));
        else
            report_.lose(use, "the same limit is there already; left out");
    };
    for (const RequestLimit& limit : settings.request_limits)
        add(request_limit(limit, settings, server), settings.request_status, *limit.at);
    for (const ConnectionLimit& limit : settings.connection_limits)
        add(connection_limit(limit, settings, server), settings.connection_status, *limit.at);
    return found;
}

std::vector<Node> Limits::denials(const std::vector<AccessRule>& rules) {
    std::vector<std::string> networks;
    for (const AccessRule& rule : rules) {
        if (rule.allow && rule.network == "all")
            break; // the rules behind it have no effect
        if (rule.allow || !config::parse_network(rule.network))
            return {};
        networks.push_back(rule.network);
    }
    if (networks.empty())
        return {};
    std::string identity = "d";
    for (const std::string& network : networks)
        identity += ' ' + network;
    const Entry* known = find(identity);
    if (known == nullptr) {
        Entry draft{.name = names_.take("denied", "denied"), .status = 0};
        draft.comments = {
            rules.front().at->text() + ": 403 for these, as in nginx; all others pass."};
        draft.body.add("requests", Node::number(most_requests))
            .add("per", Node::word("1s"))
            .add("deny", Node::texts(networks));
        known = &keep(identity, std::move(draft));
    }
    return {Node::text(known->name)};
}

Node Limits::section() const {
    Node section = Node::map();
    for (const Entry& draft : drafts_) {
        if (draft.name.empty())
            continue;
        Node body = draft.body;
        section.add(draft.name, body.flow(), draft.comments);
    }
    return section;
}

} // namespace stint::import_nginx
