// The table of a limit's keys, and its output in GET /config.
#include "config/fields/limit_rows.hpp"
#include "config/schema/key_sources.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <utility>

namespace stint::config {

namespace {

constexpr std::uint64_t most_keys = 100'000'000;
constexpr std::array<std::string_view, 3> algorithms{
    "fixed_window", "sliding_window", "token_bucket"};
constexpr std::array<std::string_view, 4> missing_key_words{"share", "exempt", "refuse", "partial"};
constexpr std::array<std::string_view, 2> anchors{"first_request", "clock"};

std::string_view unit_word(CalendarUnit unit) {
    switch (unit) {
    case CalendarUnit::day:
        return "day";
    case CalendarUnit::week:
        return "week";
    case CalendarUnit::month:
        break;
    }
    return "month";
}

template <Limit::Kind Kind>
void show_quota(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (limit.kind == Kind)
        add(members, field.key, limit.quota);
}

void show_per(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (limit.kind != Limit::Kind::window)
        return;
    if (limit.calendar) {
        add(members, field.key, unit_word(limit.calendar->unit));
        add(members, "time_zone", limit.calendar->time_zone);
    } else {
        add(members, field.key, limit.per);
    }
}

void show_anchor(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (limit.kind == Limit::Kind::window && !limit.calendar &&
        limit.algorithm == Limit::Algorithm::fixed_window)
        add(members, field.key, field.type.words[static_cast<std::size_t>(limit.anchor)]);
}

constexpr bool is_window(const Limit& limit) {
    return limit.kind == Limit::Kind::window;
}
constexpr bool is_cap(const Limit& limit) {
    return limit.kind == Limit::Kind::cap;
}
constexpr bool has_key(const Limit& limit) {
    return !limit.key.empty();
}
bool key_may_be_missing(const Limit& limit) {
    return std::ranges::any_of(limit.key, may_be_missing);
}
bool counts_clients(const Limit& limit) {
    return std::ranges::any_of(limit.key, [](const KeySource& source) {
        return source.kind == KeySource::Kind::client_ip;
    });
}

// Shows the member M of a limit if Applies(limit) is true.
template <auto Applies, auto M>
void show_where(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (!Applies(limit))
        return;
    auto value = std::invoke(M, limit);
    if constexpr (std::is_enum_v<decltype(value)>)
        add(members, field.key, field.type.words[static_cast<std::size_t>(value)]);
    else
        add(members, field.key, value);
}

// Shows a prefix length of a limit with client_ip in its key, if it is not the top level's, which a
// limit inherits.
template <auto M>
void show_prefix(
    const Field& field, const Limit& limit, const Config& config, Shown::Map& members) {
    const std::uint8_t own = std::invoke(M, limit.prefixes);
    if (counts_clients(limit) && own != std::invoke(M, config.prefixes))
        add(members, field.key, own);
}

template <auto M>
void show_statuses(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (!std::invoke(M, limit).empty())
        add(members, field.key, list_of(std::invoke(M, limit)));
}

template <auto M>
void show_keys(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    const KeyList& list = std::invoke(M, limit);
    Shown::List listed;
    for (const Cidr& network : list.networks)
        listed.emplace_back(IpText{network}.view());
    for (const std::string& key : list.keys)
        listed.emplace_back(key);
    if (!listed.empty())
        add(members, field.key, std::move(listed));
}

void show_overrides(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    Shown::Map overrides;
    for (const Override& each : limit.overrides) {
        Shown::Map numbers;
        add(numbers, is_window(limit) ? "requests" : "concurrent", each.quota);
        if (each.burst > 0)
            add(numbers, "burst", each.burst);
        add(overrides, each.key, std::move(numbers));
    }
    if (!overrides.empty())
        add(members, field.key, std::move(overrides));
}

void show_cost(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    const std::string& from =
        limit.cost_request_field.empty() ? limit.cost_response_field : limit.cost_request_field;
    add(members, field.key, from.empty() ? Shown{limit.cost} : Shown{"header:" + from});
}

void show_reserve(const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
    if (!limit.cost_response_field.empty())
        add(members, field.key, limit.cost);
}

using LimitRow = Fields<Limit>;
constexpr FieldType some_statuses{
    .kind = FieldType::Kind::number, .is_list = true, .low = 200, .high = 599};
constexpr std::array limit_table{
    LimitRow::other(
        {.key = "name",
         .about = "The name of an inline limit; N is its position among the route's limits.",
         .expected = "a name",
         .otherwise = "`ROUTE.N`"},
        {.kind = FieldType::Kind::text, .name = "name"},
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (!limit.route.empty())
                add(members, field.key, limit.name);
        }),
    LimitRow::other(
        {.key = "requests",
         .about = "The number of requests that a window admits.",
         .expected = "a number of requests",
         .otherwise = "*required*, or concurrent"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_requests},
        nullptr,
        &show_quota<Limit::Kind::window>),
    LimitRow::other(
        {.key = "per",
         .about = "The window's length, 1ms to 366d, or a unit of the calendar.",
         .expected = "the window's length such as 1m",
         .otherwise = "*required* with requests"},
        {.kind = FieldType::Kind::other, .name = "duration, day, week or month"},
        nullptr,
        &show_per),
    LimitRow::other(
        {.key = "concurrent",
         .about = "The most requests in flight.",
         .expected = "a number of requests",
         .otherwise = "*required*, or requests"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_concurrent},
        nullptr,
        &show_quota<Limit::Kind::cap>),
    LimitRow::other(
        {.key = "time_zone",
         .about = "The calendar's time zone, by its name in the IANA database.",
         .expected = "a time zone such as Europe/Berlin",
         .otherwise = "`UTC`"},
        {.kind = FieldType::Kind::text, .name = "name of a time zone"},
        nullptr,
        nullptr),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::word<&Limit::algorithm>(
            {.key = "algorithm",
             .about = "How a window counts.",
             .expected = "fixed_window, sliding_window or token_bucket"},
            algorithms)),
        &show_where<&is_window, &Limit::algorithm>),
    LimitRow::other(
        {.key = "burst",
         .about = "The capacity of a token bucket; at most the tokens of 366 days.",
         .expected = "a number of requests",
         .otherwise = "`requests`"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_requests},
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (limit.burst > 0)
                add(members, field.key, limit.burst);
        }),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::word<&Limit::anchor>(
            {.key = "anchor",
             .about = "A window opens with the first request after the former ended, or ends at a "
                      "multiple of per since the Unix epoch.",
             .expected = "first_request or clock"},
            anchors)),
        &show_anchor),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::boolean<&Limit::pace>(
            {.key = "pace",
             .about = "Spreads admissions of a window evenly instead of letting them burst."})),
        &show_where<&is_window, &Limit::pace>),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::boolean<&Limit::ws_holds_slot>(
            {.key = "ws_holds_slot",
             .about =
                 "A tunnel holds its slot of a cap as long as it is open, or only until then."})),
        &show_where<&is_cap, &Limit::ws_holds_slot>),
    LimitRow::boolean<&Limit::enforce>(
        {.key = "enforce", .about = "false: the limit counts and reports, and refuses nothing."}),
    LimitRow::other(
        {.key = "cost",
         .about =
             "The cost of a request: a number, or header:NAME of the request (with reserve: of "
             "the response).",
         .expected = "a number or header:NAME",
         .otherwise = "`1`"},
        {.kind = FieldType::Kind::other, .name = "1 to 1000000000000, or header:NAME"},
        nullptr,
        &show_cost),
    LimitRow::other(
        {.key = "reserve",
         .about = "The most that a request may cost, where the response tells it.",
         .expected = "the most that a request may cost",
         .otherwise = "none"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_requests},
        nullptr,
        &show_reserve),
    LimitRow::map(
        {.key = "count_when",
         .about = "Only requests with these response statuses count: {status: [401, 403]}.",
         .otherwise = "always"},
        "map",
        nullptr,
        [](const Field& field, const Limit& limit, const Config& config, Shown::Map& members) {
            if (!limit.count_when.empty())
                add(members, field.key, shown(count_when_fields(), limit, config));
        }),
    LimitRow::other(
        {.key = "refund",
         .about = "Response statuses whose requests are refunded.",
         .otherwise = "`[]`"},
        some_statuses,
        nullptr,
        &show_statuses<&Limit::refund>),
    LimitRow::other(
        {.key = "key",
         .about =
             "The source of the key, or a list of up to 8; each value has a counter. Without it "
             "there is one for all.",
         .expected = "a key such as client_ip, or a list of keys",
         .otherwise = "none"},
        a_key_source,
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (!limit.key.empty())
                add(members, field.key, shown_sources(limit.key));
        }),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::word<&Limit::missing_key>(
            {.key = "missing_key",
             .about =
                 "Requests without the key share one counter, are exempt, or get 403. partial: a "
                 "missing part of several counts as empty.",
             .expected = "share, exempt, refuse or partial"},
            missing_key_words)),
        &show_where<&key_may_be_missing, &Limit::missing_key>),
    LimitRow::shown_by(
        LimitRow::later(LimitRow::number<&Limit::max_keys>(
            {.key = "max_keys",
             .about = "The most live keys that are counted exactly.",
             .expected = "a number of keys"},
            1,
            most_keys)),
        &show_where<&has_key, &Limit::max_keys>),
    LimitRow::shown_by(
        LimitRow::later(ipv4_prefix_row<Limit>("Bits of an IPv4 address that count.")),
        &show_prefix<&AddressPrefixes::ipv4>),
    LimitRow::shown_by(
        LimitRow::later(ipv6_prefix_row<Limit>("Bits of an IPv6 address that count.")),
        &show_prefix<&AddressPrefixes::ipv6>),
    LimitRow::map(
        {.key = "overrides",
         .about = "Other numbers for some keys, by key or pattern.",
         .expected = "a map such as {premium-*: {requests: 1000}}",
         .otherwise = "none"},
        "map by key",
        nullptr,
        &show_overrides),
    LimitRow::other(
        {.key = "exempt",
         .about = "Clients and keys to which the limit does not apply.",
         .expected = "a list such as [10.0.0.0/8]",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "networks, addresses and keys"},
        nullptr,
        &show_keys<&Limit::exempt>),
    LimitRow::other(
        {.key = "deny",
         .about = "Clients and keys that it never admits (403).",
         .expected = "a list such as [10.0.0.0/8]",
         .otherwise = "none"},
        {.kind = FieldType::Kind::text, .is_list = true, .name = "networks, addresses and keys"},
        nullptr,
        &show_keys<&Limit::deny>),
    when_exceeded_row,
    max_wait_row,
    LimitRow::shown_by(
        LimitRow::later(
            LimitRow::number<[](auto& limit) -> auto& { return limit.wait->max_waiting; }>(
                {.key = "max_waiting",
                 .about = "The most requests queued for one counter.",
                 .expected = "a number of requests"},
                1,
                most_waiting)),
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (limit.wait)
                add(members, field.key, limit.wait->max_waiting);
        }),
    fair_by_row,
    LimitRow::other(
        {.key = "retry_after",
         .about =
             "A refused request is told when the window admits again, or gets a slot of its own in "
             "a coming window.",
         .expected = "reset or reserve",
         .otherwise = "`reset`"},
        {.kind = FieldType::Kind::word, .words = retry_after_words},
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (!limit.reserve_for.empty())
                add(members, field.key, "reserve");
        }),
    LimitRow::other(
        {.key = "reserve_for",
         .about = "The owner of a slot that is claimed without its ticket.",
         .otherwise = "`client_ip`"},
        a_key_source,
        nullptr,
        [](const Field& field, const Limit& limit, const Config&, Shown::Map& members) {
            if (!limit.reserve_for.empty())
                add(members, field.key, shown_sources(limit.reserve_for));
        }),
    LimitRow::map(
        {.key = "shared",
         .about = "The store in which gateways divide the limit among them; for a per of at most "
                  "31d, and "
                  "buckets that are full again within 31d.",
         .expected = "a store's name, or a map such as {store: main}",
         .otherwise = "none: each gateway counts alone"},
        "name of a store, or map",
        nullptr,
        &show_shared),
    limit_headers_row,
    status_row,
    body_row,
    retry_after_jitter_row,
};

} // namespace

Table<Limit> limit_fields() {
    return limit_table;
}

void show_limits(const Field& field, const Config& config, const Config&, Shown::Map& members) {
    Shown::Map limits;
    for (const Limit& limit : config.limits)
        if (!limit.lock && limit.route.empty())
            add(limits, limit.name, shown(limit_fields(), limit, config));
    add(members, field.key, std::move(limits));
}

} // namespace stint::config
