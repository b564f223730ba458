// Reads how a limit counts: algorithm, burst, cost, refunds and enforce.
#include "config/fields/limit_rows.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>

namespace stint::config {

namespace {

constexpr std::string_view a_header = "header:";

Parsed<std::uint64_t> parse_number(std::string_view text) {
    return parse_count(text, 1, most_requests);
}

Parsed<std::uint16_t> parse_status(std::string_view text) {
    const auto status = parse_count(text, 200, 599);
    if (!status)
        return status.error();
    return static_cast<std::uint16_t>(*status);
}

void read_statuses(const Value& value, std::vector<std::uint16_t>& statuses) {
    const auto items = value.items("a list of statuses such as [502, 503]");
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        std::uint16_t status = 0;
        item.into(status, "a status such as 503", parse_status);
        if (status != 0 && std::ranges::find(statuses, status) != statuses.end())
            item.wrong("is in the list already");
        else if (status != 0)
            statuses.push_back(status);
    }
    if (items && items->empty())
        value.wrong("is empty; expected at least one status");
}

constexpr std::array count_when_table{
    Fields<Limit>::other(
        {.key = "status",
         .about = "The response statuses that count.",
         .expected = "the statuses that count",
         .required = true},
        {.kind = FieldType::Kind::number, .is_list = true, .low = 200, .high = 599},
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            add(members, field.key, list_of(limit.count_when));
        }),
};

void read_cost(const Section& section, Limit& limit) {
    const auto cost = section.find("cost");
    const auto reserve = section.find("reserve");
    if (cost && cost->is_scalar() && cost->scalar("a cost")->starts_with(a_header)) {
        auto& field = reserve ? limit.cost_response_field : limit.cost_request_field;
        cost->into(field, "header:NAME", parse_log_field);
    } else if (cost) {
        cost->into(limit.cost, "a number or header:NAME", parse_number);
        if (reserve)
            section.wrong_at(
                "reserve", "is only for a cost that the answer tells, cost: header:NAME");
    } else if (reserve) {
        section.wrong_at(
            "reserve", "needs cost: header:NAME, the answer's field that tells the cost");
    }
    if (reserve)
        reserve->into(limit.cost, "the most that a request may cost", parse_number);
    const std::uint64_t capacity = capacity_of(limit.burst, limit.quota);
    if (limit.quota > 0 && limit.cost > capacity)
        section.wrong_at(
            reserve ? "reserve" : "cost", "is more than the limit ever has (" +
                                              std::to_string(capacity) +
                                              "), so every request would be refused");
}

void read_burst(const Section& section, Limit& limit) {
    const auto burst = section.find("burst");
    if (!burst)
        return;
    if (limit.algorithm != Limit::Algorithm::token_bucket)
        return section.wrong_at(
            "burst", "is only for algorithm: token_bucket; add that, or remove burst");
    if (limit.pace)
        return section.wrong_at("burst", "excludes pace: a paced bucket has no burst");
    read_burst_number(section, *burst, limit, limit.quota, limit.burst);
}

} // namespace

Table<Limit> count_when_fields() {
    return count_when_table;
}

void read_burst_number(
    const Section& section,
    const Value& value,
    const Limit& limit,
    std::uint64_t quota,
    std::uint64_t& burst) {
    value.into(burst, "a number of requests", parse_number);
    if (quota > 0 && !refills_in_time(burst, quota, limit.per))
        section.wrong_at("burst", "would take more than 366 days to fill; expected a smaller one");
}

void read_algorithm(const Section& section, Limit& limit, LoadState& loading) {
    const bool cap = limit.kind == Limit::Kind::cap;
    if (cap) {
        for (const std::string_view key : {"algorithm", "burst", "pace"})
            if (section.find(key))
                section.wrong_at(key, "belongs to a window (requests), not to a cap (concurrent)");
        return;
    }
    read_field(section, limit_fields(), "algorithm", limit, loading);
    if (limit.algorithm != Limit::Algorithm::fixed_window && section.find("anchor"))
        section.wrong_at("anchor", "is only for algorithm: fixed_window; the others have no edges");
    if (limit.algorithm != Limit::Algorithm::fixed_window && limit.calendar)
        section.wrong_at(
            "algorithm", "is not for per: day, week or month, which are fixed windows");
    read_field(section, limit_fields(), "pace", limit, loading);
    read_burst(section, limit);
}

void read_pricing(const Section& section, Limit& limit) {
    read_cost(section, limit);
    const auto count_when = section.find("count_when");
    const auto refund = section.find("refund");
    if (limit.kind == Limit::Kind::cap) {
        for (const std::string_view key : {"reserve", "count_when", "refund"})
            if (section.find(key))
                section.wrong_at(
                    key, "belongs to a window (requests); a cap's slot is free with the response");
        return;
    }
    if (count_when) {
        const auto inner =
            open_section(*count_when, count_when_fields(), "a map such as {status: [401, 403]}");
        const auto status =
            inner ? inner->require("status", "the statuses that count") : std::optional<Value>{};
        if (status)
            read_statuses(*status, limit.count_when);
    }
    if (refund)
        read_statuses(*refund, limit.refund);
}

} // namespace stint::config
