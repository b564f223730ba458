// The readers of a configuration's sections. Each reports what is wrong and fills in what is right;
// a draft with mistakes is thrown away, so that nothing half right is ever used.
#pragma once

#include "config/fields/field.hpp"
#include "config/schema/schema.hpp"
#include "config/sections/load_state.hpp"
#include "config/yaml/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

void read_top(const Section& top, LoadState& loading);
void read_listeners(const Value& value, LoadState& loading);
void read_admin(const Value& value, LoadState& loading);
// Reads the address of a listener, which no other may have. Returns its place in the file; nothing
// if it is missing or wrong.
std::optional<Value> read_address(
    const Section& section, const Field& field, Address& address, const LoadState& loading);
// Reads mode and group of a Unix socket's file. The address must have been read.
void read_socket_file(const Section& section, Address& address);
// Reads the Host names that a listener accepts beside its own address.
void read_hosts(const Field& field, const Value& value, std::vector<std::string>& hosts);
void read_token_file(
    const Field& field, const Value& value, std::string& file, const LoadState& loading);
void read_permits(const Value& value, LoadState& loading); // after the other addresses
void read_state(const Value& value, LoadState& loading);
// Keys that are left out keep what `rate` holds.
void read_min_rate(const Value& value, MinRate& rate, LoadState& loading);
void read_overrides(const Value& value, TimeoutOverrides& timeouts, LoadState& loading);
void read_tls(const Value& value, LoadState& loading, Tls& tls);
void read_upstream_tls(const Value& value, LoadState& loading, UpstreamTls& tls);
// Sets the Host of an upstream without `host` to its https endpoints' name.
void name_https_host(const Value& endpoints, Upstream& upstream);
void read_upstreams(const Value& value, LoadState& loading);
// Reads an endpoint: its text, or a map with the text and its settings.
[[nodiscard]] std::optional<Endpoint> read_endpoint(const Value& value, LoadState& loading);
// For the rows of an upstream.
void read_ejection(const Field& field, const Value& value, Upstream& upstream, LoadState& loading);
void read_health(const Field& field, const Value& value, Upstream& upstream, LoadState& loading);
void read_refusal_body(const Value& value, Limit& limit, LoadState& loading);
// Reads whether refused requests get a slot (retry_after); after everything else of the limit.
void read_reserving(const Section& section, Limit& limit);
// Keys that are left out keep what `headers` holds.
void read_headers(const Value& value, Headers& headers, LoadState& loading);
// Keys that are left out keep what `cooldown` holds.
void read_cooldown(const Value& value, Cooldown& cooldown, LoadState& loading);
// Keys that are left out keep what `retry` holds.
void read_retry(const Value& value, Retry& retry, LoadState& loading);
void read_upgrade(const Value& value, std::vector<std::string>& protocols); // a list, or off
void read_named_limits(const Value& value, LoadState& loading);
// Adds the limit and returns its index. The caller records its name in LoadState.
std::size_t add_limit(Limit limit, LoadState& loading);
// Reads when_exceeded, max_wait and fair_by. True if requests wait before the limit: the caller
// then reads max_waiting.
bool read_wait_terms(const Section& section, Limit& limit, LoadState& loading);
void read_locks(const Section& top, const Value& value, LoadState& loading); // after named limits
// True if an item of a route's limits is {lock: NAME}.
[[nodiscard]] bool names_lock(const Value& item);
// Returns the index of the limit that such an item names.
[[nodiscard]] std::optional<std::size_t> find_lock(const Value& item, const LoadState& loading);
void read_require_fence(const Value& value, Route& route, const LoadState& loading); // after locks
inline constexpr std::size_t most_trusted_fields = 64;
void read_peers(const Field& field, const Value& value, Config& config, LoadState& loading);
void read_trusted_fields(
    const Field& field, const Value& value, Config& config, LoadState& loading);
// Reads the header in which trusted proxies name the client; after them.
void read_client_ip_header(const Section& top, TrustedProxies& trusted);
void read_key(const Section& section, Limit& limit, LoadState& loading); // key and its settings
void read_rules(const Section& section, Limit& limit); // exceptions; after kind and key
// After the kind and its numbers.
void read_algorithm(const Section& section, Limit& limit, LoadState& loading);
// Reads burst in a section of the limit or of one of its overrides, beside this quota.
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
void read_max_body(const Field& field, const Value& value, std::optional<std::uint64_t>& most);
inline constexpr std::size_t most_edits = 64; // fields to set, and to remove
// Kinds of edited heads. Each has fields of its own that cannot be set or removed.
enum class EditedHead : std::uint8_t { request, response, answer };
void read_set_headers(
    const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading);
void read_edits(const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading);
// Reads a route's path changes; after its match.
void read_path_changes(const Section& section, const PathRules& rules, Route& route);
// Reads a route's upstream, or the response in its place.
void read_action(const Section& section, Route& route, LoadState& loading);
void read_routes(const Value& value, LoadState& loading); // after upstreams and named limits

// Reads a limit that a route defines in its own list; returns its index in Config::limits. position
// counts from 1, and names the limit when it has no name of its own.
[[nodiscard]] std::size_t
read_inline_limit(const Value& value, const Route& route, std::size_t position, LoadState& loading);

// Returns the index of `name`, or reports a mistake about `kind` ("an upstream") with the name that
// was probably meant.
[[nodiscard]] std::optional<std::size_t> find_name(
    const Value& value,
    std::string_view name,
    const LoadState::Names& names,
    std::string_view kind);

} // namespace stint::config
