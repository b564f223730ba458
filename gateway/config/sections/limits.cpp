// Reads named and inline limits.
#include "config/fields/limit_rows.hpp"
#include "config/values/unit_aliases.hpp"
#include "config/values/values.hpp"

#include <array>
#include <utility>

namespace stint::config {

namespace {

constexpr std::string_view only_for_waiting = "is only for a limit with when_exceeded: wait";
constexpr std::string_view a_limit = "a map such as {requests: 100, per: 1m} or {concurrent: 3}";

std::optional<CalendarUnit> unit_of(std::string_view text) {
    if (text == "day")
        return CalendarUnit::day;
    if (text == "week")
        return CalendarUnit::week;
    return text == "month" ? std::optional{CalendarUnit::month} : std::nullopt;
}

std::chrono::nanoseconds longest(CalendarUnit unit) {
    using std::chrono::days;
    switch (unit) {
    case CalendarUnit::day:
        return days{1};
    case CalendarUnit::week:
        return days{7};
    case CalendarUnit::month:
        break;
    }
    return days{31};
}

Parsed<std::string> parse_time_zone(std::string_view text) {
    std::string name{text};
    if (!TimeZone::find(name))
        return ParseError{
            in_quotes(text) + " is not a time zone; expected a name such as Europe/Berlin"};
    return name;
}

// Reads `per` and time_zone: a window's length, or a calendar unit in a time zone.
void read_length(const Section& section, const Value& per, Limit& limit) {
    const auto zone = section.find("time_zone");
    const auto unit = per.is_scalar() ? unit_of(*per.scalar("a length")) : std::nullopt;
    if (!unit) {
        per.into(limit.per, "the window's length such as 1m", [](std::string_view text) {
            return parse_duration(text, ", or day, week or month of the calendar");
        });
        if (zone)
            section.wrong_at("time_zone", "is only for per: day, week or month");
        return;
    }
    limit.calendar = Limit::Calendar{.unit = *unit};
    limit.per = longest(*unit);
    if (zone)
        zone->into(limit.calendar->time_zone, "a time zone such as Europe/Berlin", parse_time_zone);
    if (section.find("anchor"))
        section.wrong_at("anchor", "is not for per: day, week or month, which follow the calendar");
}

void read_window(const Section& section, const Value& requests, Limit& limit, LoadState& loading) {
    limit.kind = Limit::Kind::window;
    requests.into(limit.quota, "a number of requests", [](std::string_view text) {
        return parse_quota(text, Limit::Kind::window);
    });
    if (section.find("ws_holds_slot"))
        section.wrong_at("ws_holds_slot", "belongs to a cap (concurrent): a window has no slots");
    const auto text = requests.is_scalar() ? requests.scalar("a number") : std::nullopt;
    if (const auto per = section.find("per"))
        read_length(section, *per, limit);
    else if (!text || rate_in_keys(*text).empty()) // the error about a rate asks for `per` already
        section.value().wrong("per is missing; expected the window's length such as per: 1m");
    read_field(section, limit_fields(), "anchor", limit, loading);
}

void read_cap(const Section& section, const Value& concurrent, Limit& limit, LoadState& loading) {
    limit.kind = Limit::Kind::cap;
    concurrent.into(limit.quota, "a number of requests", [](std::string_view text) {
        return parse_quota(text, Limit::Kind::cap);
    });
    for (const std::string_view key : {"per", "anchor", "time_zone"}) {
        if (const auto value = section.find(key))
            section.wrong_at(
                key, "belongs to a window (requests), not to a cap (concurrent); remove it");
    }
    read_field(section, limit_fields(), "ws_holds_slot", limit, loading);
}

void read_limit_queue(const Section& section, Limit& limit, LoadState& loading) {
    if (!read_wait_terms(section, limit, loading))
        return section.wrong_at("max_waiting", only_for_waiting);
    read_field(section, limit_fields(), "max_waiting", limit, loading);
}

void read_limit(const Section& section, Limit& limit, LoadState& loading) {
    limit.prefixes = loading.config.prefixes;
    const auto requests = section.find("requests");
    const auto concurrent = section.find("concurrent");
    if (requests && concurrent)
        section.wrong_at("concurrent", "excludes requests; make two limits of them");
    if (!requests && !concurrent)
        section.value().wrong("a limit needs requests and per (a window) or concurrent (a cap)");
    if (requests)
        read_window(section, *requests, limit, loading);
    else if (concurrent)
        read_cap(section, *concurrent, limit, loading);
    read_algorithm(section, limit, loading);
    read_fields(section, limit_fields(), limit, loading);
    read_pricing(section, limit);
    read_key(section, limit, loading);
    read_rules(section, limit);
    read_limit_queue(section, limit, loading);
    read_reserving(section, limit);
    read_shared(section, limit, loading);
    for (const std::string_view each : {"key", "fair_by", "reserve_for"})
        check_subjects(section, each, loading);
    if (!limit.key.empty() && limit.key.front().kind == KeySource::Kind::permit_key &&
        !loading.config.permits)
        section.find("key")->wrong("\"permit_key\" needs a listener for permits: without one, "
                                   "nobody names such a key");
}

// Returns the keys of a named limit: all but `name`, because the name is the limit's key in the
// map.
std::vector<std::string_view> named_keys() {
    return keys_of(limit_fields().subspan(1));
}

// Returns the name of an inline limit: the key `name`, else ROUTE.N with its position N.
std::string read_limit_name(
    const Value& value, const Section& section, const Route& route, std::size_t position) {
    std::string name = route.name + '.' + std::to_string(position);
    if (const auto own = section.find("name"))
        own->into(name, "a name", parse_name);
    else if (name.size() > longest_name)
        value.wrong(
            "the limit would be called " + in_quotes(name) + ", longer than " +
            std::to_string(longest_name) + " characters; expected a name of its own");
    return name;
}

// Returns true if the value is a rate such as 10r/s instead of a limit's map, and reports an error.
bool refuse_rate(const Value& value) {
    const std::string rate =
        value.is_scalar() ? rate_in_keys(*value.scalar(a_limit)) : std::string{};
    if (!rate.empty())
        value.wrong(in_quotes(*value.scalar(a_limit)) + " is a rate; expected a map with " + rate);
    return !rate.empty();
}

std::size_t add_named(Limit limit, std::size_t line, LoadState& loading) {
    const std::string name = limit.name;
    const std::size_t index = add_limit(std::move(limit), loading);
    loading.limits.try_emplace(name, LoadState::NamedAt{index, line});
    return index;
}

} // namespace

Parsed<std::uint64_t> parse_quota(std::string_view text, Limit::Kind kind) {
    const bool zero = !text.empty() && text.find_first_not_of('0') == std::string_view::npos;
    if (zero)
        return ParseError{
            "a limit of 0 would refuse every request; expected at least 1 (to close a route, "
            "remove it; to shut clients or keys out, list them under deny)"};
    if (const std::string rate = rate_in_keys(text); !rate.empty())
        return ParseError{
            in_quotes(text) +
            " is a rate; expected a number here and the time in a key of its "
            "own: " +
            rate};
    return parse_count(text, 1, kind == Limit::Kind::cap ? most_concurrent : most_requests);
}

std::size_t add_limit(Limit limit, LoadState& loading) {
    loading.config.limits.push_back(std::move(limit));
    return loading.config.limits.size() - 1;
}

bool read_wait_terms(const Section& section, Limit& limit, LoadState& loading) {
    std::string chosen = "refuse";
    if (const auto when = section.find("when_exceeded"))
        when->into(chosen, "refuse or wait", [](std::string_view text) {
            return parse_word(text, when_exceeded_words);
        });
    if (chosen == "refuse") {
        for (const std::string_view key : {"max_wait", "fair_by"})
            section.wrong_at(key, only_for_waiting);
        return false;
    }
    limit.wait.emplace(Limit::Wait{});
    read_field(section, limit_fields(), "max_wait", limit, loading);
    read_field(section, limit_fields(), "fair_by", limit, loading);
    return true;
}

void read_named_limits(const Value& value, LoadState& loading) {
    const auto entries =
        value.entries("a map of limits by name such as {per_client: {requests: 100, per: 1m}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{})) {
        if (const auto name = parse_name(entry.name); !name)
            entry.key.wrong(name.error().why);
        Limit limit;
        limit.name = std::string{entry.name};
        if (!refuse_rate(entry.value))
            if (const auto section = Section::open(entry.value, named_keys(), a_limit))
                read_limit(*section, limit, loading);
        add_named(std::move(limit), entry.key.mark().line, loading);
    }
}

std::size_t read_inline_limit(
    const Value& value, const Route& route, std::size_t position, LoadState& loading) {
    Limit limit;
    limit.route = route.name;
    if (const auto section = open_section(value, limit_fields(), a_limit)) {
        limit.name = read_limit_name(value, *section, route, position);
        read_limit(*section, limit, loading);
        if (const auto other = loading.limits.find(limit.name); other != loading.limits.end())
            section->value().wrong(
                "the name " + in_quotes(limit.name) + " is taken by the limit on line " +
                std::to_string(other->second.line) + "; expected another name");
    }
    return add_named(std::move(limit), value.mark().line, loading);
}

} // namespace stint::config
