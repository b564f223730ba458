// The readers of a configuration's sections. Each reports what is wrong and fills in what is right;
// a draft with mistakes is thrown away, so that nothing half right is ever used.
#pragma once

#include "config/schema/schema.hpp"
#include "config/yaml/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

struct LoadState {
    struct NamedAt {
        std::size_t index; // in its list of the configuration
        std::size_t line;
    };
    using Names = std::map<std::string, NamedAt, std::less<>>;

    Config config;
    std::filesystem::path file;   // that is being read
    std::filesystem::path folder; // relative paths begin here
    Names upstreams;
    Names limits;                       // named and inline ones, but no locks
    Names locks;                        // in the list of limits, by what they are called as locks
    bool asks_for_certificates = false; // of clients, at any listener
};

void read_listeners(const Value& value, LoadState& loading);
void read_admin(const Value& value, LoadState& loading);
// Reads mode and group of a Unix socket's file. The address must have been read.
void read_socket_file(const Section& section, Address& address);
// Reads the Host names that a listener accepts beside its own address.
void read_hosts(const Section& section, std::vector<std::string>& hosts);
void read_permits(const Value& value, LoadState& loading); // after the other addresses
void read_state(const Value& value, LoadState& loading);
void read_access_log(const Value& value, LoadState& loading);
void read_timeouts(const Value& value, Timeouts& timeouts);
// Keys that are left out keep what `rate` holds.
void read_min_rate(const Value& value, MinRate& rate);
void read_overrides(const Value& value, TimeoutOverrides& timeouts);
void read_tls(const Value& value, const LoadState& loading, Tls& tls);
void read_upstream_tls(const Value& value, const LoadState& loading, UpstreamTls& tls);
// The Host of an upstream that is known by the name of its https endpoints and says no other.
void name_https_host(const Value& endpoints, Upstream& upstream);
void read_upstreams(const Value& value, LoadState& loading);
// An endpoint's text, or a map with it and what it takes.
[[nodiscard]] std::optional<Endpoint> read_endpoint(const Value& value);
// Which of its endpoints an upstream asks, and how it looks after them; after its endpoints.
void read_balance(const Section& section, Upstream& upstream);
// What a limit says of its refusals; for its reader.
void read_refusal(const Section& section, Limit& limit);
// Whether those it refuses get a slot; after everything else of the limit.
void read_reserving(const Section& section, Limit& limit);
// Keys that are left out keep what `headers` holds.
void read_headers(const Value& value, Headers& headers);
// Keys that are left out keep what `cooldown` holds.
void read_cooldown(const Value& value, Cooldown& cooldown, const LoadState& loading);
// Keys that are left out keep what `retry` holds.
void read_retry(const Value& value, Retry& retry);
void read_upgrade(const Value& value, std::vector<std::string>& protocols); // a list, or off
void read_named_limits(const Value& value, LoadState& loading);
// Its index. What finds it by its name is for the caller to note.
std::size_t add_limit(Limit limit, LoadState& loading);
// Whether requests wait before the limit, for how long and by whose turns; how many is for the
// caller to read, where this is true.
bool read_wait_terms(const Section& section, Limit& limit);
void read_locks(const Section& top, const Value& value, LoadState& loading); // after named limits
// Whether an item of a route's limits is {lock: NAME}, and the limit that this is.
[[nodiscard]] bool names_lock(const Value& item);
[[nodiscard]] std::optional<std::size_t> find_lock(const Value& item, const LoadState& loading);
void read_require_fence(const Value& value, Route& route, const LoadState& loading); // after locks
void read_trusted_proxies(const Section& top, TrustedProxies& trusted); // and their header
void read_prefixes(const Section& section, AddressPrefixes& prefixes);
void read_key(const Section& section, Limit& limit);       // key and what belongs to it
void read_rules(const Section& section, Limit& limit);     // exceptions; after kind and key
void read_algorithm(const Section& section, Limit& limit); // after the kind and its numbers
// The burst in a section of the limit, or of one of its overrides, beside such a quota.
void read_burst_number(
    const Section& section,
    const Value& value,
    const Limit& limit,
    std::uint64_t quota,
    std::uint64_t& burst);
void read_pricing(const Section& section, Limit& limit); // after the algorithm
[[nodiscard]] Parsed<std::uint64_t> parse_quota(std::string_view text, Limit::Kind kind);
void read_key_sources(const Value& value, std::vector<KeySource>& key); // one, or a list
// Reports tls:subject among these sources, or as the only one, where no client has such a thing.
void check_subjects(const Section& section, std::string_view key, const LoadState& loading);
void read_requests(const Section& top, Config& config); // what is taken of requests
void read_max_body(const Section& section, std::optional<std::uint64_t>& most);
// What of heads cannot be set or removed depends on whose they are.
enum class EditedHead : std::uint8_t { request, response, answer };
void read_set_headers(
    const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading);
void read_shaping(const Section& section, Shaping& shaping, const LoadState& loading); // both heads
// After its match.
void read_path_changes(const Section& section, const PathRules& rules, Route& route);
// The upstream of a route, or what is answered in its place.
void read_action(const Section& section, Route& route, LoadState& loading);
void read_routes(const Value& value, LoadState& loading); // after upstreams and named limits

// The limit that a route defines in its own list, as an index into Config::limits. position counts
// from 1: what the limit is named after when it has no name of its own.
[[nodiscard]] std::size_t
read_inline_limit(const Value& value, const Route& route, std::size_t position, LoadState& loading);

// Where `name` stands in `names`, or a mistake about `kind` ("an upstream") with what was meant.
[[nodiscard]] std::optional<std::size_t> find_name(
    const Value& value,
    std::string_view name,
    const LoadState::Names& names,
    std::string_view kind);

} // namespace stint::config
