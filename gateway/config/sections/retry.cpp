// Retries of failed requests.
#include "config/sections/section_readers.hpp"
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

constexpr std::array<std::string_view, 4> retry_keys{"on", "attempts", "budget", "methods"};
constexpr std::string_view what_to_say = "on, off or a map such as {on: [connect, 503]}";
constexpr std::string_view a_condition_list = "a list such as [connect, reset, 503]";
constexpr std::uint64_t most_attempts = 10;

// connect, reset or a status.
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
        item.wrong(in_quotes(*text) + " is listed already");
}

void read_reasons(const Value& value, Retry& retry) {
    const auto items = value.items(a_condition_list);
    if (items && items->empty())
        value.wrong("is empty; expected connect, reset or a status, or retry: off");
    retry.connect = retry.reset = false;
    retry.statuses.clear();
    for (const Value& item : items.value_or(std::vector<Value>{}))
        read_reason(item, retry);
}

void read_methods(const Value& value, std::vector<std::string>& methods) {
    const auto items = value.items("a list such as [GET, HEAD]");
    if (items && items->empty())
        value.wrong("is empty; leave methods out for the idempotent ones");
    methods.clear();
    for (const Value& item : items.value_or(std::vector<Value>{})) {
        const auto method = item.as("a method such as GET", parse_method);
        if (!method)
            continue;
        if (std::ranges::find(methods, *method) != methods.end())
            item.wrong(in_quotes(*method) + " is listed already");
        methods.push_back(*method);
    }
}

Parsed<std::uint32_t> parse_percent(std::string_view text) {
    if (text.ends_with('%'))
        if (const auto number = parse_count(text.substr(0, text.size() - 1), 1, 100))
            return static_cast<std::uint32_t>(*number);
    return ParseError{in_quotes(text) + " is no share; expected one from 1% to 100%, such as 20%"};
}

Parsed<std::uint32_t> parse_attempts(std::string_view text) {
    const auto number = parse_count(text, 2, most_attempts); // one is no retry
    if (!number)
        return number.error();
    return static_cast<std::uint32_t>(*number);
}

} // namespace

void read_retry(const Value& value, Retry& retry) {
    if (value.is_scalar()) {
        const auto word =
            value.as(what_to_say, [](std::string_view text) { return parse_word(text, on_off); });
        retry.on = !word || *word == "on";
        return;
    }
    const auto section = Section::open(value, retry_keys, what_to_say);
    if (!section)
        return;
    if (const auto reasons = section->find("on"))
        read_reasons(*reasons, retry);
    if (const auto attempts = section->find("attempts"))
        attempts->into(retry.attempts, "a number from 2 to 10", parse_attempts);
    if (const auto budget = section->find("budget"))
        budget->into(retry.budget, "a share such as 20%", parse_percent);
    if (const auto methods = section->find("methods"))
        read_methods(*methods, retry.methods);
}

} // namespace stint::config
