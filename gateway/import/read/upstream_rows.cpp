// Directives of nginx's module upstream, and the blocks map and geo.
#include "config/schema/schema.hpp"
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stint::import_nginx {

namespace {

// Reads max_fails and fail_timeout, which are an endpoint's in nginx and the upstream's in Stint.
template <class T>
void read_for_all(
    Block& block, const Directive& directive, std::optional<T>& all, const std::optional<T>& one) {
    if (!one)
        return lose_argument(block, directive, "a number or a time");
    if (all && *all != *one)
        return block.report.lose(
            directive,
            "max_fails and fail_timeout are those of all endpoints; the first are taken");
    all = one;
}

// Reads a number of an endpoint, from the first of `bounds` to the second.
void read_number(
    Block& block,
    const Directive& directive,
    std::string_view text,
    std::string_view expected,
    std::pair<std::uint64_t, std::uint64_t> bounds,
    std::uint64_t& number) {
    const auto read = number_of(text);
    if (!read || *read < bounds.first || *read > bounds.second)
        return lose_argument(block, directive, expected);
    number = *read;
}

// Returns false if the endpoint is left out.
bool read_server_option(
    Block& block, const Directive& directive, const std::string& argument, UpstreamServer& server) {
    if (argument == "down") {
        block.report.note(directive, "down: left out, as nginx sends nothing there");
        return false;
    }
    if (argument == "backup") {
        block.report.lose(directive, "backup: Stint has no spare endpoints; left out");
        return false;
    }
    const auto weight = option(argument, "weight");
    const auto connections = option(argument, "max_conns");
    const auto fails = option(argument, "max_fails");
    const auto timeout = option(argument, "fail_timeout");
    if (weight)
        read_number(block, directive, *weight, "weight=1 to weight=1000", {1, 1000}, server.weight);
    else if (connections)
        read_number(
            block, directive, *connections, "max_conns=0 to max_conns=1000000",
            {0, config::most_concurrent}, server.max_connections);
    else if (fails)
        read_for_all(block, directive, block.upstream->max_fails, number_of(*fails));
    else if (timeout)
        read_for_all(block, directive, block.upstream->fail_timeout, time_of(*timeout));
    else if (argument == "resolve")
        block.report.note(directive, "resolve: Stint resolves every name again (resolve_interval)");
    else
        block.report.lose(
            directive, plain_name(argument.substr(0, argument.find('='))) +
                           ": Stint has no such key; left out");
    return true;
}

void read_upstream_server(Block& block, const Directive& directive) {
    UpstreamServer server{.address = directive.args.front(), .at = &directive};
    bool used = true;
    for (std::size_t i = 1; i < directive.args.size(); ++i)
        used = read_server_option(block, directive, directive.args[i], server) && used;
    if (used)
        block.upstream->servers.push_back(std::move(server));
}

void read_hash(Block& block, const Directive& directive) {
    block.upstream->balance = "hash";
    block.upstream->hash_key = directive.args.front();
    block.upstream->hash_at = &directive;
}

void read_upstream(Block& block, const Directive& directive) {
    UpstreamGroup group{.at = &directive};
    Block inner{
        .where = context::upstream,
        .model = block.model,
        .report = block.report,
        .upstream = &group};
    for (const Directive& one : directive.block) {
        if (one.name == "server" && !one.args.empty())
            read_upstream_server(inner, one);
        else
            read_directive(inner, one);
    }
    block.model.upstreams.insert_or_assign(directive.args.front(), std::move(group));
}

void read_table(Block& block, const Directive& directive) {
    Table table{.by_address = directive.name == "geo"};
    if (directive.args.size() == 2)
        table.source = directive.args.front();
    else
        table.source = "$remote_addr";
    for (const Directive& entry : directive.block) {
        const std::string value = entry.args.empty() ? std::string{} : entry.args.front();
        if (entry.name == "default")
            table.other = value;
        else if (
            entry.name == "hostnames" || entry.name == "volatile" || entry.name == "ranges" ||
            entry.name == "proxy" || entry.name == "delete" || entry.name == "proxy_recursive")
            block.report.lose(entry, "is an option of map and geo that is not read");
        else
            table.entries.emplace_back(entry.name, value);
    }
    std::string name = directive.args.back();
    if (name.starts_with('$'))
        name.erase(0, 1);
    block.model.tables.insert_or_assign(name, std::move(table));
}

constexpr std::array table_of_upstream{
    Row{"upstream", context::http, 1, 1, read_upstream},
    Row{"map", context::http, 2, 2, read_table},
    Row{"geo", context::http, 1, 2, read_table},
    Row{"least_conn", context::upstream, 0, 0,
        [](Block& block, const Directive&) { block.upstream->balance = "least_conn"; }},
    Row{"ip_hash", context::upstream, 0, 0,
        [](Block& block, const Directive& directive) {
            block.upstream->balance = "hash";
            block.upstream->hash_key = "$remote_addr";
            block.upstream->hash_at = &directive;
            block.report.note(
                directive,
                "hashes the whole address of a client; nginx the first three numbers of it");
        }},
    Row{"hash", context::upstream, 1, 2, read_hash},
    Row{"random", context::upstream, 0, 2,
        [](Block& block, const Directive& directive) {
            block.upstream->balance = directive.args.empty() ? "" : "least_conn";
            block.report.note(
                directive,
                "Stint has no chance in it: the draft takes endpoints in turn, or the least busy");
        }},
    Row{.name = "keepalive", .why = "Stint keeps up to 1024 connections for each endpoint"},
    Row{.name = "keepalive_time", .why = "Stint keeps connections without such a bound"},
    Row{.name = "zone", .why = "Stint's workers share the state of endpoints"},
    Row{.name = "sticky",
        .why = "Stint has no sessions of its own; see balance: hash",
        .lost = true},
    Row{.name = "queue", .why = "see queue of an upstream in docs/configuration.md", .lost = true},
};

} // namespace

std::span<const Row> upstream_rows() {
    return table_of_upstream;
}

} // namespace stint::import_nginx
