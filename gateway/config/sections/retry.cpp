// Reads `retry`: the retries of failed requests.
#include "config/fields/shared_rows.hpp"
#include "config/values/match_values.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::config {

namespace {

constexpr std::string_view what_to_say = "on, off or a map such as {on: [connect, 503]}";
constexpr std::uint64_t most_attempts = 10;

// Reads one item of the key `on`: connect, reset or a status.
void read_reason(const Value& item, Retry& retry) {
    const auto text = item.scalar("connect, reset or a status such as 503");
    if (!text)
        return;
    bool repeated = false;
    if (*text == "connect") {
        repeated = std::exchange(retry.connect, true);
    } else if (*text == "reset") {
        repeated = std::exchange(retry.reset, true);
    } else if (const auto number = parse_count(*text, 500, 599)) {
        const auto status = static_cast<std::uint16_t>(*number);
        repeated = std::ranges::find(retry.statuses, status) != retry.statuses.end();
        retry.statuses.push_back(status);
    } else {
        return item.wrong(
            in_quotes(*text) + " is nothing to retry on; expected connect, reset or a status " +
            "from 500 to 599");
    }
    if (repeated)
        item.wrong(in_quotes(*text) + " is listed already; remove one");
}

void read_reasons(const Field& field, const Value& value, Retry& retry, LoadState&) {
    const auto items = value.items(field.expected);
    if (items && items->empty())
        value.wrong("is empty; expected connect, reset or a status, or retry: off");
    retry.connect = retry.reset = false;
    retry.statuses.clear();
    for (const Value& item : items.value_or(std::vector<Value>{}))
        read_reason(item, retry);
}

void read_methods(const Field& field, const Value& value, Retry& retry, LoadState&) {
    std::vector<std::string>& methods = retry.methods;
    const auto items = value.items(field.expected);
    if (items && items->empty())
        value.wrong("is empty; leave methods out for the idempotent ones");
    methods.clear();
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto method = item.as("a method such as GET", parse_method);
        if (!method)
            continue;
        if (std::ranges::find(methods, *method) != methods.end())
            item.wrong(in_quotes(*method) + " is listed already; remove one");
        methods.push_back(*method);
    }
}

Parsed<std::uint32_t> parse_percent(std::string_view text) {
    if (text.ends_with('%'))
        if (const auto number = parse_count(text.substr(0, text.size() - 1), 1, 100))
            return static_cast<std::uint32_t>(*number);
    return ParseError{in_quotes(text) + " is no share; expected one from 1% to 100%, such as 20%"};
}

void show_reasons(const Field& field, const Retry& retry, const Config&, Shown::Map& members) {
    Shown::List on;
    if (retry.connect)
        on.emplace_back("connect");
    if (retry.reset)
        on.emplace_back("reset");
    for (const std::uint16_t status : retry.statuses)
        on.emplace_back(status);
    add(members, field.key, std::move(on));
}

using RetryRow = Fields<Retry>;
constexpr std::array retry_table{
    RetryRow::other(
        {.key = "on",
         .about = "No connection was established (connect), it ended before the response head was "
                  "complete (reset), or the response has this status.",
         .expected = "a list such as [connect, reset, 503]"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "connect, reset and 500 to 599"},
        &read_reasons,
        &show_reasons),
    RetryRow::number<&Retry::attempts>(
        {.key = "attempts",
         .about = "The most times that a request is sent, the first time included.",
         .expected = "a number from 2 to 10"},
        2,
        most_attempts), // the minimum is 2, because 1 attempt is no retry
    RetryRow::other(
        {.key = "budget",
         .about = "The most retries, as a share of the requests of the last ten seconds.",
         .expected = "a share such as 20%",
         .otherwise = "`20%`"},
        {.kind = FieldType::Kind::other, .name = "share, 1% to 100%"},
        [](const Field& field, const Value& value, Retry& retry, LoadState&) {
            value.into(retry.budget, field.expected, parse_percent);
        },
        [](const Field& field, const Retry& retry, const Config&, Shown::Map& members) {
            add(members, field.key, std::to_string(retry.budget).append("%"));
        }),
    RetryRow::other(
        {.key = "methods",
         .about = "Methods that are retried. The default has the idempotent ones.",
         .expected = "a list such as [GET, HEAD]"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "methods"},
        &read_methods,
        [](const Field& field, const Retry& retry, const Config&, Shown::Map& members) {
            add(members, field.key, list_of(retry.methods));
        }),
};

} // namespace

Table<Retry> retry_fields() {
    return retry_table;
}

void read_retry(const Value& value, Retry& retry, LoadState& loading) {
    if (value.is_scalar()) {
        retry.on = value
                       .as(what_to_say,
                           [](std::string_view text) {
                               return parse_switch(text, "{attempts: 3, on: [connect, 503]}");
                           })
                       .value_or(true);
        return;
    }
    if (const auto section = open_section(value, retry_fields(), what_to_say))
        read_fields(*section, retry_fields(), retry, loading);
}

Shown shown_retry(const std::optional<Retry>& retry, const Config& config) {
    if (!retry || !retry->on)
        return "off";
    return shown(retry_fields(), *retry, config);
}

} // namespace stint::config
