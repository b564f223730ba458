#include "config/fields/json_schema_types.hpp"

#include "config/fields/kinds.hpp"
#include "config/fields/number_pattern.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace stint::config::json_schema_types {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<Unit, 5> duration_units{
    {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 6> size_units{
    {{"", 1},
     {"B", 1},
     {"KiB", 1U << 10U},
     {"MiB", 1U << 20U},
     {"GiB", 1U << 30U},
     {"TiB", std::uint64_t{1} << 40U}}};

// Sections whose keys are those of another one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> same_keys{{
    {"admin.http2", "listeners[].http2"},
    {"permits.http2", "listeners[].http2"},
    {"admin.tls", "listeners[].tls"},
    {"permits.tls", "listeners[].tls"},
    {"stores.NAME.tls", "upstreams.NAME.tls"},
    {"stores.NAME.sentinel.tls", "upstreams.NAME.tls"},
    {"upstreams.NAME.response", "upstreams.NAME.request"},
    {"locks.NAME.body", "limits.NAME.body"},
    {"routes[].headers", "headers"},
    {"routes[].timeouts", "upstreams.NAME.timeouts"},
    {"routes[].cooldown", "upstreams.NAME.cooldown"},
    {"routes[].retry", "upstreams.NAME.retry"},
    {"routes[].request", "upstreams.NAME.request"},
    {"routes[].response", "upstreams.NAME.request"},
}};

std::string section_of(std::string path) {
    for (const auto& [own, other] : same_keys)
        if (own == path)
            return std::string{other};
    return path;
}

Json one_of(Json::array_t choices) {
    return choices.size() == 1 ? choices.front() : Json{{"anyOf", std::move(choices)}};
}

Json any_text() {
    return {{"type", {"string", "number", "boolean"}}}; // a scalar is read as a text
}

Json a_list(Json item) {
    return {{"type", "array"}, {"items", std::move(item)}};
}

// A list with at least one item.
Json some(Json item) {
    Json list = a_list(std::move(item));
    list["minItems"] = 1;
    return list;
}

Json a_map(Json value) {
    return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}

Json reference_to(std::string_view section) {
    return {{"$ref", "#/definitions/" + std::string{section}}};
}

// A word, as YAML's core schema reads it.
Json::array_t values_of_word(std::string_view word) {
    if (word == "true" || word == "false")
        return {word == "true", word};
    if (word.find_first_not_of("0123456789.") == std::string_view::npos)
        return {Json::parse(word), word};
    return {word};
}

Json words_of(std::span<const std::string_view> words) {
    Json::array_t all;
    for (const std::string_view word : words)
        for (Json& value : values_of_word(word))
            all.push_back(std::move(value));
    return {{"enum", std::move(all)}};
}

Json whole_numbers(std::uint64_t low, std::uint64_t high) {
    return one_of(
        {{{"type", "integer"}, {"minimum", low}, {"maximum", high}},
         {{"type", "string"},
          {"pattern", std::string{"^"}.append(number_pattern(low, high)).append("$")}}});
}

// Numbers with one of the units.
std::string numbers_with(std::span<const Unit> units, std::uint64_t low, std::uint64_t high) {
    std::string pattern;
    for (const Unit& unit : units) {
        const std::uint64_t first = (low + unit.factor - 1) / unit.factor;
        const std::uint64_t last = high / unit.factor;
        if (first <= last)
            pattern.append(pattern.empty() ? "" : "|")
                .append(number_pattern(first, last))
                .append(unit.name);
    }
    return pattern;
}

Json text_like(const std::string& pattern) {
    return {{"type", "string"}, {"pattern", std::string{"^(?:"}.append(pattern).append(")$")}};
}

constexpr std::uint64_t longest = milliseconds{longest_duration}.count();

// In milliseconds. Numbers with decimals are not bounded.
Json duration_between(std::uint64_t low, std::uint64_t high) {
    return text_like(
        numbers_with(duration_units, low, high).append("|[0-9]+\\.[0-9]+(?:ms|s|m|h|d)"));
}

// Adds a choice to a type.
Json or_else(Json type, Json choice) {
    if (type.size() != 1 || !type.contains("anyOf"))
        type = one_of({std::move(type), {}});
    else
        type["anyOf"].push_back({});
    type["anyOf"].back() = std::move(choice);
    return type;
}

Json zero_word(const FieldType& type, Json other) {
    if (type.zero.empty())
        return other;
    return or_else(std::move(other), words_of(std::array{type.zero}));
}

Json numeric(const FieldType& type) {
    const std::uint64_t low = std::max<std::uint64_t>(type.low, 1);
    switch (type.kind) {
    case FieldType::Kind::number:
        return zero_word(type, whole_numbers(low, type.high));
    case FieldType::Kind::size:
        return zero_word(
            type, one_of(
                      {{{"type", "integer"}, {"minimum", low}, {"maximum", type.high}},
                       text_like(numbers_with(size_units, low, type.high))}));
    default:
        return zero_word(
            type, low == 1 && type.high == longest ? reference_to(any_duration)
                                                   : duration_between(low, type.high));
    }
}

// The alternatives of a type's description: "off, or map" has two.
std::vector<std::string_view> alternatives(std::string_view description) {
    std::vector<std::string_view> all;
    while (!description.empty()) {
        std::size_t end = description.size();
        std::size_t next = end;
        for (const std::string_view between : {", or ", " or ", ", "}) {
            const std::size_t at = description.find(between);
            if (at < end) {
                end = at;
                next = at + between.size();
            }
        }
        all.push_back(description.substr(0, end));
        description.remove_prefix(next);
    }
    return all;
}

bool is_fixed_word(std::string_view text) {
    constexpr std::array<std::string_view, 11> words{
        "on", "off", "true", "false", "draft", "legacy", "both", "keep", "day", "week", "month"};
    return std::ranges::find(words, text) != words.end();
}

// Returns the schema of one alternative of a description. path: of the key.
Json alternative(std::string_view text, const std::string& path) {
    if (text == "map")
        return reference_to(section_of(path));
    if (text == "map by name")
        return a_map(reference_to(path + ".NAME"));
    if (text == "map by key")
        return a_map(reference_to(path + ".KEY"));
    if (text == "map of names and values")
        return a_map(any_text());
    if (text == "list of certificates")
        return some(reference_to("listeners[].tls.certificates[]"));
    if (text == "list of endpoints")
        return some(one_of({any_text(), reference_to(path + "[]")}));
    if (text == "list of limits")
        return a_list(one_of(
            {any_text(),
             {{"if", {{"anyOf", {{{"required", {"lock"}}}, {{"required", {"limit"}}}}}}},
              {"then", reference_to(path + "[]")},
              {"else", reference_to(inline_limit)},
              {"type", "object"}}}));
    if (text == "list of them" || text == "list of these")
        return some(any_text());
    if (text == "list of listeners")
        return some(reference_to(path + "[]"));
    if (text.starts_with("list of "))
        return a_list(reference_to(path + "[]"));
    if (text == "duration")
        return reference_to(any_duration);
    if (is_fixed_word(text))
        return words_of(std::array{text});
    if (const std::size_t to = text.find(" to ");
        to == text.find_first_not_of("0123456789") && to != std::string_view::npos)
        return whole_numbers(
            std::stoull(std::string{text.substr(0, to)}),
            std::stoull(std::string{text.substr(to + 4)}));
    return any_text();
}

Json described(const FieldType& type, const std::string& path) {
    Json::array_t choices;
    for (const std::string_view each : alternatives(type.name)) {
        Json choice = alternative(each, path);
        if (std::ranges::find(choices, choice) == choices.end())
            choices.push_back(std::move(choice));
    }
    return one_of(std::move(choices));
}

Json single_type_of(const FieldType& type, const std::string& path) {
    using Kind = FieldType::Kind;
    const bool bounded = type.high > 0 && type.name.empty();
    switch (type.kind) {
    case Kind::boolean:
        return words_of(std::array<std::string_view, 2>{"true", "false"});
    case Kind::number:
    case Kind::size:
    case Kind::duration:
        return bounded ? numeric(type) : described(type, path);
    case Kind::word:
        return words_of(type.words);
    case Kind::text:
    case Kind::map:
    case Kind::other:
        break;
    }
    return described(type, path);
}

// A scalar may have a variable of the environment in place of any text.
Json with_variables(Json type) {
    const bool is_map = type.contains("$ref") && type != reference_to(any_duration);
    if (is_map || type.value("type", Json{}) == "object" || type.value("type", Json{}) == "array")
        return type;
    return or_else(std::move(type), reference_to(variable));
}

} // namespace

Json type_of(FieldType type, const std::string& path) {
    if (!std::exchange(type.is_list, false))
        return with_variables(single_type_of(type, path));
    const std::string_view zero = std::exchange(type.zero, {});
    const std::uint64_t most = std::exchange(type.most_items, 0);
    const bool texts = type.kind == FieldType::Kind::text || type.kind == FieldType::Kind::other;
    Json list = a_list(texts ? any_text() : with_variables(single_type_of(type, path)));
    if (most > 0)
        list["maxItems"] = most;
    return zero.empty() ? list : or_else(std::move(list), words_of(std::array{zero}));
}

Json definitions_of_types() {
    return {
        {variable, {{"type", "string"}, {"pattern", "\\$\\{"}}},
        {any_duration, duration_between(1, longest)}};
}

} // namespace stint::config::json_schema_types
