// Reads the load balancing, health checks, ejection and queue of an upstream's endpoints.
#include "config/fields/shared_rows.hpp"
#include "config/values/addresses.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace stint::config {

namespace {

constexpr std::string_view a_check_duration = "a duration such as 10s";
constexpr std::string_view an_endpoint = "an endpoint such as 127.0.0.1:9000";
constexpr std::uint64_t most_weight = 1000;
constexpr std::uint64_t most_in_a_row = 1000;

constexpr std::string_view a_number = "a whole number";

using EjectionRow = Fields<Ejection>;
constexpr std::array ejection_table{
    EjectionRow::number<&Ejection::failures>(
        {.key = "failures",
         .about = "Failures in a row that eject an endpoint.",
         .expected = a_number},
        1,
        most_in_a_row),
    EjectionRow::duration<&Ejection::first>(
        {.key = "for",
         .about = "The first ejection's length; each further one lasts twice as long.",
         .expected = a_check_duration}),
    EjectionRow::duration<&Ejection::most>(
        {.key = "most", .about = "The longest ejection.", .expected = a_check_duration}),
};

using QueueRow = Fields<EndpointQueue>;
constexpr std::array queue_table{
    QueueRow::number<&EndpointQueue::max_waiting>(
        {.key = "max_waiting",
         .about = "How many requests may be queued while all endpoints are at their max_requests.",
         .expected = a_number},
        1,
        most_waiting),
    QueueRow::duration<&EndpointQueue::max_wait>(
        {.key = "max_wait", .about = "For how long; then 503.", .expected = a_check_duration}),
};

using EndpointRow = Fields<Endpoint>;
constexpr std::array endpoint_table{
    EndpointRow::other(
        {.key = "address",
         .about =
             "IPv4:port, \"[IPv6]:port\", name:port, unix:/path, or https:// and one of these.",
         .expected = an_endpoint,
         .required = true},
        {.kind = FieldType::Kind::text, .name = "endpoint"},
        nullptr,
        [](const Field& field, const Endpoint& endpoint, const Config&, Shown::Map& members) {
            add(members, field.key, endpoint.text);
        }),
    EndpointRow::number<&Endpoint::weight>(
        {.key = "weight",
         .about = "Share of the requests, in proportion to the other endpoints' weights.",
         .expected = a_number},
        1,
        most_weight),
    EndpointRow::shown_by(
        EndpointRow::number<&Endpoint::max_requests>(
            {.key = "max_requests",
             .about = "The most requests in flight at the endpoint, over all workers.",
             .expected = a_number,
             .otherwise = "none"},
            1,
            most_concurrent),
        [](const Field& field, const Endpoint& endpoint, const Config&, Shown::Map& members) {
            if (endpoint.max_requests > 0)
                add(members, field.key, endpoint.max_requests);
        }),
};

// Parses a status or a range of statuses: "204" or "200-299".
Parsed<HealthCheck::Statuses> parse_statuses(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_count(text.substr(0, dash), 200, 599);
    const auto last =
        dash == std::string_view::npos ? first : parse_count(text.substr(dash + 1), 200, 599);
    if (!first || !last || *last < *first)
        return ParseError{
            in_quotes(text) + " is no status; expected one from 200 to 599, such as 204, or a "
                              "range, such as 200-299"};
    return HealthCheck::Statuses{
        static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

void read_expect(const Field&, const Value& value, HealthCheck& health, LoadState&) {
    auto& expect = health.expect;
    expect.clear();
    const auto add = [&](const Value& item) {
        if (const auto statuses = item.as("a status or a range such as 200-299", parse_statuses))
            expect.push_back(*statuses);
    };
    if (value.is_scalar())
        return add(value);
    const auto items = value.items("a range such as 200-299, or a list");
    for (const Value& item : items.value_or(std::vector<Value>{}))
        add(item);
    if (items && items->empty())
        value.wrong("is empty; expected at least one status");
}

Parsed<std::string> parse_health_path(std::string_view text) {
    const auto wanted = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte < 0x7F && c != '#' && c != '\\';
    };
    if (!text.starts_with('/') || !std::all_of(text.begin(), text.end(), wanted))
        return ParseError{
            in_quotes(text) +
            " is not a path; expected \"/\" and visible ASCII characters, such as /healthz"};
    return std::string{text};
}

void show_expect(
    const Field& field, const HealthCheck& health, const Config&, Shown::Map& members) {
    Shown::List expect;
    for (const auto& [first, last] : health.expect)
        expect.emplace_back(
            first == last ? std::to_string(first)
                          : std::to_string(first).append("-").append(std::to_string(last)));
    add(members, field.key, std::move(expect));
}

using HealthRow = Fields<HealthCheck>;
constexpr std::array health_table{
    HealthRow::text<&HealthCheck::path, &parse_health_path>(
        {.key = "path",
         .about = "The path of the check request, a GET; it may have a query.",
         .expected = "a path such as /healthz",
         .required = true},
        "path"),
    HealthRow::duration<&HealthCheck::interval>(
        {.key = "interval",
         .about = "The time between the beginnings of two checks.",
         .expected = a_check_duration}),
    HealthRow::duration<&HealthCheck::timeout>(
        {.key = "timeout", .about = "The timeout of a whole check.", .expected = a_check_duration}),
    HealthRow::number<&HealthCheck::healthy_after>(
        {.key = "healthy_after",
         .about = "How many passes in a row make an endpoint healthy.",
         .expected = a_number},
        1,
        most_in_a_row),
    HealthRow::number<&HealthCheck::unhealthy_after>(
        {.key = "unhealthy_after",
         .about = "How many failures in a row make it unhealthy.",
         .expected = a_number},
        1,
        most_in_a_row),
    HealthRow::other(
        {.key = "expect", .about = "The statuses that pass."},
        {.kind = FieldType::Kind::text, .name = "status, range, or list of these"},
        &read_expect,
        &show_expect),
};

} // namespace

Table<Endpoint> endpoint_fields() {
    return endpoint_table;
}

Table<Ejection> ejection_fields() {
    return ejection_table;
}

Table<HealthCheck> health_fields() {
    return health_table;
}

Table<EndpointQueue> queue_fields() {
    return queue_table;
}

void read_ejection(const Field& field, const Value& value, Upstream& upstream, LoadState& loading) {
    std::optional<Ejection>& ejection = upstream.load.ejection;
    const std::string_view expected = field.expected;
    if (value.is_scalar()) {
        const auto on = value.as(expected, [](std::string_view text) {
            return parse_switch(text, "{failures: 5, for: 30s}");
        });
        if (on && !*on)
            ejection.reset();
        return;
    }
    const auto section = open_section(value, ejection_fields(), expected);
    if (!section)
        return;
    read_fields(*section, ejection_fields(), *ejection, loading);
    if (ejection->most < ejection->first)
        section->value().wrong("most is shorter than for; expected it to be as long, at least");
}

void read_health(const Field&, const Value& value, Upstream& upstream, LoadState& loading) {
    HealthCheck& health = upstream.load.health.emplace();
    if (const auto section = open_section(value, health_fields(), "a map such as {path: /healthz}"))
        read_fields(*section, health_fields(), health, loading);
}

void show_ejection(
    const Field& field, const Upstream& upstream, const Config& config, Shown::Map& members) {
    const auto& ejection = upstream.load.ejection;
    add(members, field.key,
        ejection ? Shown{shown(ejection_fields(), *ejection, config)} : Shown{"off"});
}

void show_health(
    const Field& field, const Upstream& upstream, const Config& config, Shown::Map& members) {
    const auto& health = upstream.load.health;
    if (health)
        add(members, field.key, shown(health_fields(), *health, config));
}

std::optional<Endpoint> read_endpoint(const Value& value, LoadState& loading) {
    if (!value.is_map())
        return value.as(an_endpoint, parse_endpoint);
    const auto section = open_section(value, endpoint_fields(), an_endpoint);
    const auto address =
        section ? section->require("address", an_endpoint) : std::optional<Value>{};
    auto endpoint = address ? address->as(an_endpoint, parse_endpoint) : std::nullopt;
    if (!endpoint)
        return std::nullopt;
    read_fields(*section, endpoint_fields(), *endpoint, loading);
    return endpoint;
}

Shown shown_endpoint(const Endpoint& endpoint, const Config& config) {
    if (endpoint.weight == 1 && endpoint.max_requests == 0)
        return endpoint.text;
    return shown(endpoint_fields(), endpoint, config);
}

} // namespace stint::config
