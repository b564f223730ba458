// Reads the per-key exceptions of a limit: overrides, exempt and deny.
#include "config/fields/shared_rows.hpp"
#include "config/values/networks.hpp"
#include "config/values/values.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace stint::config {

namespace {

constexpr std::size_t longest_pattern = 256;
constexpr std::string_view a_listed = "a network such as 10.0.0.0/8, an address or a key";

bool is_pattern(std::string_view text) {
    return text.find_first_of("*?") != std::string_view::npos;
}

bool of_client_alone(const Limit& limit) {
    return limit.key.size() == 1 && limit.key.front().kind == KeySource::Kind::client_ip;
}

// Parses a client's address to the key that routing forms of it: the address shortened to the
// limit's prefix length.
Parsed<std::string> parse_client_key(std::string_view text, const AddressPrefixes& prefixes) {
    const auto network = Cidr::parse(text);
    if (!network)
        return ParseError{
            in_quotes(text) +
            " is no key of this limit; expected an address, or a pattern such as 10.*"};
    const Cidr counted{network->address, network->address.is_v4() ? prefixes.ipv4 : prefixes.ipv6};
    if (network->prefix < counted.prefix)
        return ParseError{
            in_quotes(text) +
            " is more than one key; expected an address, or a pattern such as 10.*"};
    return std::string{IpText{counted}.view()};
}

Parsed<std::string> parse_key_text(std::string_view text, const Limit& limit) {
    if (text.empty() || text.size() > longest_pattern)
        return ParseError{
            in_quotes(text) + " is not a key; expected 1 to " + std::to_string(longest_pattern) +
            " characters"};
    if (of_client_alone(limit) && !is_pattern(text))
        return parse_client_key(text, limit.prefixes);
    return std::string{text};
}

constexpr std::array override_table{
    Fields<Override>::other(
        {.key = "requests",
         .about = "Its number, of a window.",
         .expected = "a number of requests",
         .required = true},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_requests},
        nullptr,
        nullptr),
    Fields<Override>::other(
        {.key = "burst", .about = "Of a token bucket.", .otherwise = "the limit's, else requests"},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_requests},
        nullptr,
        nullptr),
    Fields<Override>::other(
        {.key = "concurrent",
         .about = "Its number, of a cap.",
         .expected = "a number of requests",
         .required = true},
        {.kind = FieldType::Kind::number, .low = 1, .high = most_concurrent},
        nullptr,
        nullptr),
};

// Returns the rows of keys that an override of this limit may have.
Table<Override> override_fields_of(const Limit& limit) {
    if (limit.kind == Limit::Kind::cap)
        return rows_from(override_fields(), "concurrent");
    const bool bursts = limit.algorithm == Limit::Algorithm::token_bucket && !limit.pace;
    return rows_before(override_fields(), bursts ? "concurrent" : "burst");
}

// Reports an error if an override's bucket takes more than 366 days to fill, or if a request costs
// more than the bucket holds. An override without a burst has the limit's. number: the key of its
// quota.
void check_numbers(
    const Section& section, std::string_view number, const Override& made, const Limit& limit) {
    if (made.quota == 0)
        return; // the quota has a mistake, which is reported already
    const std::uint64_t burst = made.burst > 0 ? made.burst : limit.burst;
    if (made.burst == 0 && !refills_in_time(burst, made.quota, limit.per))
        section.wrong_at(
            number, "would take more than 366 days to fill the limit's burst (" +
                        std::to_string(burst) + "); expected more, or a smaller burst beside it");
    if (const std::uint64_t capacity = capacity_of(burst, made.quota); limit.cost > capacity)
        section.wrong_at(
            made.burst > 0 ? "burst" : number,
            "is " + std::to_string(capacity) + ", less than a request costs (" +
                std::to_string(limit.cost) + "), so every request would be refused");
}

void read_override(const Value::Named& entry, Limit& limit) {
    const auto key = parse_key_text(entry.name, limit);
    if (!key)
        return entry.key.wrong(key.error().why);
    const bool window = limit.kind == Limit::Kind::window;
    const std::string_view number = window ? "requests" : "concurrent";
    const std::string example = "a map such as {" + std::string{number} + ": 1000}";
    const auto section = open_section(entry.value, override_fields_of(limit), example);
    if (!section)
        return;
    const auto quota = section->require(number, "a number of requests");
    if (!quota)
        return;
    Override made{.key = *key};
    quota->into(made.quota, "a number of requests", [&](std::string_view text) {
        return parse_quota(text, limit.kind);
    });
    if (const auto burst = section->find("burst"))
        read_burst_number(*section, *burst, limit, made.quota, made.burst);
    check_numbers(*section, number, made, limit);
    const bool known =
        std::any_of(limit.overrides.begin(), limit.overrides.end(), [&](const Override& other) {
            return other.key == made.key;
        });
    if (known)
        entry.key.wrong(in_quotes(made.key) + " is listed already; remove one");
    limit.overrides.push_back(std::move(made));
}

void read_overrides(const Value& value, Limit& limit) {
    const auto entries = value.entries("a map such as {premium-*: {requests: 1000}}");
    for (const Value::Named& entry : entries.value_or(std::vector<Value::Named>{}))
        read_override(entry, limit);
}

// Reads one entry of exempt or deny. An address or a network is matched against the client's
// address; other text is a key of the limit.
void read_listed(const Value& value, const Limit& limit, KeyList& list) {
    const auto text = value.scalar(a_listed);
    if (!text)
        return;
    const bool network_only = limit.key.empty() || (of_client_alone(limit) && !is_pattern(*text));
    if (Cidr::parse(*text) || network_only) {
        if (const auto network = value.as(a_listed, parse_network))
            list.networks.push_back(*network);
        return;
    }
    if (auto key =
            value.as(a_listed, [&](std::string_view each) { return parse_key_text(each, limit); }))
        list.keys.push_back(std::move(*key));
}

void read_list(const Section& section, std::string_view name, const Limit& limit, KeyList& list) {
    const auto value = section.find(name);
    if (!value)
        return;
    const auto items = value->items("a list such as [10.0.0.0/8]");
    for (const Value& item : items.value_or(std::vector<Value>{}))
        read_listed(item, limit, list);
}

} // namespace

Table<Override> override_fields() {
    return override_table;
}

void read_rules(const Section& section, Limit& limit) {
    const auto overrides = section.find("overrides");
    const auto key = section.find("key");
    if (overrides && !key)
        section.wrong_at("overrides", "is only for a limit with a key");
    else if (overrides && !limit.key.empty())
        read_overrides(*overrides, limit);
    if (key && limit.key.empty())
        return; // the key has a mistake, so its possible values are not known
    read_list(section, "exempt", limit, limit.exempt);
    read_list(section, "deny", limit, limit.deny);
}

} // namespace stint::config
