// Load balancing, health checks, ejection and queues of an upstream's endpoints.
#include "config/sections/section_readers.hpp"
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

constexpr std::array<std::string_view, 3> endpoint_keys{"address", "weight", "max_requests"};
constexpr std::array<std::string_view, 3> ejection_keys{"failures", "for", "most"};
constexpr std::array<std::string_view, 6> health_keys{"path",          "interval",        "timeout",
                                                      "healthy_after", "unhealthy_after", "expect"};
constexpr std::array<std::string_view, 2> queue_keys{"max_waiting", "max_wait"};
constexpr std::array<std::string_view, 3> ways{"round_robin", "least_requests", "hash"};
constexpr std::array<std::string_view, 2> when_all_down{"503", "fail_open"};
constexpr std::string_view a_check_duration = "a duration such as 10s";
constexpr std::string_view an_endpoint = "an endpoint such as 127.0.0.1:9000";
constexpr std::uint64_t most_weight = 1000;
constexpr std::uint64_t most_in_a_row = 1000;

void read_number(
    const Section& section, std::string_view key, std::uint32_t& place, std::uint64_t most) {
    if (const auto value = section.find(key))
        if (const auto number = value->as("a whole number", [&](std::string_view text) {
                return parse_count(text, 1, most);
            }))
            place = static_cast<std::uint32_t>(*number);
}

void read_length(const Section& section, std::string_view key, std::chrono::milliseconds& place) {
    if (const auto value = section.find(key))
        value->into(place, a_check_duration, parse_timeout);
}

Parsed<LoadBalance::How> parse_way(std::string_view text) {
    const auto word = parse_word(text, ways);
    if (!word)
        return word.error();
    return *word == "hash"             ? LoadBalance::How::hash
           : *word == "least_requests" ? LoadBalance::How::least_requests
                                       : LoadBalance::How::round_robin;
}

void read_ejection(const Value& value, std::optional<Ejection>& ejection) {
    constexpr std::string_view expected = "on, off or a map such as {failures: 5, for: 10s}";
    if (value.is_scalar()) {
        const auto word =
            value.as(expected, [](std::string_view text) { return parse_word(text, on_off); });
        if (word && *word == "off")
            ejection.reset();
        return;
    }
    const auto section = Section::open(value, ejection_keys, expected);
    if (!section)
        return;
    read_number(*section, "failures", ejection->failures, most_in_a_row);
    read_length(*section, "for", ejection->first);
    read_length(*section, "most", ejection->most);
    if (ejection->most < ejection->first)
        section->value().wrong("most is shorter than for; expected it to be as long, at least");
}

// "204" or "200-299".
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

void read_expect(const Value& value, std::vector<HealthCheck::Statuses>& expect) {
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

void read_health(const Value& value, HealthCheck& health) {
    const auto section = Section::open(value, health_keys, "a map such as {path: /healthz}");
    if (!section)
        return;
    if (const auto path = section->require("path", "a path such as /healthz"))
        path->into(health.path, "a path such as /healthz", parse_health_path);
    read_length(*section, "interval", health.interval);
    read_length(*section, "timeout", health.timeout);
    read_number(*section, "healthy_after", health.healthy_after, most_in_a_row);
    read_number(*section, "unhealthy_after", health.unhealthy_after, most_in_a_row);
    if (const auto expect = section->find("expect"))
        read_expect(*expect, health.expect);
}

void read_queue(const Value& value, EndpointQueue& queue) {
    const auto section = Section::open(value, queue_keys, "a map such as {max_wait: 1s}");
    if (!section)
        return;
    read_number(*section, "max_waiting", queue.max_waiting, most_waiting);
    read_length(*section, "max_wait", queue.max_wait);
}

void read_way(const Section& section, Upstream& upstream) {
    if (const auto way = section.find("balance"))
        way->into(upstream.load.how, "round_robin, least_requests or hash", parse_way);
    const bool by_hash = upstream.load.how == LoadBalance::How::hash;
    if (const auto key = section.find("hash_key"); key && !by_hash) {
        section.wrong_at("hash_key", "is only for balance: hash");
    } else if (key) {
        upstream.hash_key.clear();
        read_key_sources(*key, upstream.hash_key);
    }
}

} // namespace

std::optional<Endpoint> read_endpoint(const Value& value) {
    if (!value.is_map())
        return value.as(an_endpoint, parse_endpoint);
    const auto section = Section::open(value, endpoint_keys, an_endpoint);
    const auto address =
        section ? section->require("address", an_endpoint) : std::optional<Value>{};
    auto endpoint = address ? address->as(an_endpoint, parse_endpoint) : std::nullopt;
    if (!endpoint)
        return std::nullopt;
    read_number(*section, "weight", endpoint->weight, most_weight);
    read_number(*section, "max_requests", endpoint->max_requests, most_concurrent);
    return endpoint;
}

void read_balance(const Section& section, Upstream& upstream) {
    LoadBalance& load = upstream.load;
    read_way(section, upstream);
    read_length(section, "slow_start", load.slow_start);
    if (const auto ejection = section.find("ejection"))
        read_ejection(*ejection, load.ejection);
    if (const auto health = section.find("health"))
        read_health(*health, load.health.emplace());
    if (const auto when = section.find("when_all_down"))
        if (const auto word = when->as("503 or fail_open", [](std::string_view text) {
                return parse_word(text, when_all_down);
            }))
            load.fail_open = *word == "fail_open";
    const auto queue = section.find("queue");
    if (queue)
        read_queue(*queue, load.queue);
    const auto bounded = [](const Endpoint& each) { return each.max_requests > 0; };
    if (queue && std::ranges::none_of(upstream.endpoints, bounded))
        section.wrong_at("queue", "has no use: no endpoint of this upstream has max_requests");
}

} // namespace stint::config
