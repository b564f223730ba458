// Directives of nginx's modules limit_req and limit_conn.
#include "config/yaml/diagnostics.hpp"
#include "import/read/reader.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace stint::import_nginx {

namespace {

// Returns NAME of "zone=NAME:SIZE" or "zone=NAME"; "" for another argument.
std::string zone_name(const std::string& argument) {
    const auto text = option(argument, "zone").value_or("");
    return std::string{text.substr(0, text.find(':'))};
}

void read_request_zone(Block& block, const Directive& directive) {
    Zone zone{.key = directive.args.front(), .at = &directive};
    std::string name;
    for (std::size_t i = 1; i < directive.args.size(); ++i) {
        const std::string& argument = directive.args[i];
        if (const auto text = option(argument, "rate")) {
            const auto rate = rate_of(*text);
            if (!rate)
                return lose_argument(block, directive, "a rate such as 10r/s or 30r/m");
            zone.requests = rate->requests;
            zone.per_minute = rate->per_minute;
        } else if (argument == "sync") {
            block.report.lose(
                directive, "sync: the draft counts in each gateway alone; see docs/shared.md");
        } else {
            name = zone_name(argument);
        }
    }
    if (name.empty() || zone.requests == 0)
        return lose_argument(block, directive, "KEY zone=NAME:SIZE rate=RATE");
    block.model.request_zones.insert_or_assign(name, zone);
}

void read_connection_zone(Block& block, const Directive& directive) {
    const std::string name = zone_name(directive.args.back());
    if (name.empty())
        return lose_argument(block, directive, "KEY zone=NAME:SIZE");
    block.model.connection_zones.insert_or_assign(
        name, Zone{.key = directive.args.front(), .at = &directive});
}

void read_request_limit(Block& block, const Directive& directive) {
    RequestLimit limit{.at = &directive};
    for (const std::string& argument : directive.args) {
        if (argument == "nodelay")
            limit.delay = RequestLimit::no_delay;
        else if (const auto burst = number_of(option(argument, "burst").value_or("")))
            limit.burst = *burst;
        else if (const auto delay = number_of(option(argument, "delay").value_or("")))
            limit.delay = *delay;
        else if (!zone_name(argument).empty())
            limit.zone = zone_name(argument);
        else
            return lose_argument(block, directive, "zone=NAME burst=N nodelay or delay=N");
    }
    if (limit.zone.empty())
        return lose_argument(block, directive, "zone=NAME");
    block.own(block.settings->request_limits, "limit_req").push_back(limit);
}

void read_connection_limit(Block& block, const Directive& directive) {
    const auto number = number_of(directive.args.back());
    if (!number || *number == 0)
        return lose_argument(block, directive, "a zone and a number from 1");
    block.own(block.settings->connection_limits, "limit_conn")
        .push_back({directive.args.front(), *number, &directive});
}

void read_status(Block& block, const Directive& directive, int& status) {
    const auto number = number_of(directive.args.front());
    if (!number || *number < 400 || *number > 599)
        return lose_argument(block, directive, "a status from 400 to 599");
    status = static_cast<int>(*number);
}

constexpr std::array table_of_limits{
    Row{"limit_req_zone", context::http, 3, 4, read_request_zone},
    Row{"limit_conn_zone", context::http, 2, 2, read_connection_zone},
    Row{"limit_req", context::shared, 1, 3, read_request_limit},
    Row{"limit_conn", context::shared, 2, 2, read_connection_limit},
    Row{"limit_req_status", context::shared, 1, 1,
        [](Block& block, const Directive& directive) {
            read_status(block, directive, block.settings->request_status);
        }},
    Row{"limit_conn_status", context::shared, 1, 1,
        [](Block& block, const Directive& directive) {
            read_status(block, directive, block.settings->connection_status);
        }},
    Row{"limit_req_dry_run", context::shared, 1, 1,
        [](Block& block, const Directive& directive) {
            block.settings->request_dry_run = read_switch(block, directive);
        }},
    Row{"limit_conn_dry_run", context::shared, 1, 1,
        [](Block& block, const Directive& directive) {
            block.settings->connection_dry_run = read_switch(block, directive);
        }},
    Row{.name = "limit_req_log_level",
        .why = "the access log names the limit of each refusal; there is no level"},
    Row{.name = "limit_conn_log_level",
        .why = "the access log names the limit of each refusal; there is no level"},
};

} // namespace

std::span<const Row> limit_rows() {
    return table_of_limits;
}

} // namespace stint::import_nginx
