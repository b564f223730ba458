// The readers of a configuration's sections. Each reader reports errors and fills in the values
// that are valid. A configuration with errors is discarded as a whole.
#pragma once

#include "config/fields/field.hpp"
#include "config/schema/schema.hpp"
#include "config/sections/load_state.hpp"
#include "config/values/edited_fields.hpp"
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
// Reads the address of a listener, which must differ from all other listeners' addresses. Returns
// the key's node; nullopt if the address is missing or wrong.
std::optional<Value> read_address(
    const Section& section, const Field& field, Address& address, const LoadState& loading);
// Reads mode and group of a Unix socket's file. Call it after read_address().
void read_socket_file(const Section& section, Address& address);
// Reads the Host names that a listener accepts besides its own address.
void read_hosts(const Field& field, const Value& value, std::vector<std::string>& hosts);
void read_token_file(
    const Field& field, const Value& value, std::string& file, const LoadState& loading);
// Reads the permits listener. Call it after all other listeners are read.
void read_permits(const Value& value, LoadState& loading);
void read_state(const Value& value, LoadState& loading);
void read_stores(const Value& value, LoadState& loading);
[[nodiscard]] Parsed<std::string> parse_name_in_store(std::string_view text);
// Reads `shared` of a limit. Call it after read_stores(), and after all other keys of the limit.
void read_shared(const Section& section, Limit& limit, LoadState& loading);
// Reads `shared` of a lock. Call it after read_stores().
void read_lock_shared(const Section& section, Limit& limit, LoadState& loading);
// Reads the name of a store, and returns its index; reports an unknown one.
[[nodiscard]] std::optional<std::size_t> find_store(const Value& value, const Config& config);
// Reads min_rate. Keys that are absent leave their members of `rate` unchanged.
void read_min_rate(const Value& value, MinRate& rate, LoadState& loading);
void read_overrides(const Value& value, TimeoutOverrides& timeouts, LoadState& loading);
void read_tls(const Value& value, LoadState& loading, Tls& tls);
void read_upstream_tls(const Value& value, LoadState& loading, UpstreamTls& tls);
// Sets Upstream::host to the host name of the https endpoints, for an upstream without the key
// `host`. Reports an error if they have several names. endpoints: the node of their list, for
// errors.
void name_https_host(const Value& endpoints, Upstream& upstream);
void read_upstreams(const Value& value, LoadState& loading);
// Reads an endpoint: an address text, or a map with the address and settings.
[[nodiscard]] std::optional<Endpoint> read_endpoint(const Value& value, LoadState& loading);
// Read the keys `ejection` and `health` of an upstream, for the rows of its table.
void read_ejection(const Field& field, const Value& value, Upstream& upstream, LoadState& loading);
void read_health(const Field& field, const Value& value, Upstream& upstream, LoadState& loading);
void read_refusal_body(const Value& value, Limit& limit, LoadState& loading);
// Reads retry_after and reserve_for: reservations of slots for refused requests. Call it after all
// other keys of the limit.
void read_reserving(const Section& section, Limit& limit);
// Reads the map `headers`. Keys that are absent leave their members of `headers` unchanged.
void read_headers(const Value& value, Headers& headers, LoadState& loading);
// Reads a cooldown. Keys that are absent leave their members of `cooldown` unchanged.
void read_cooldown(const Value& value, Cooldown& cooldown, LoadState& loading);
// Reads retry rules. Keys that are absent leave their members of `retry` unchanged.
void read_retry(const Value& value, Retry& retry, LoadState& loading);
void read_upgrade(const Value& value, std::vector<std::string>& protocols); // a list, or off
void read_named_limits(const Value& value, LoadState& loading);
// Adds the limit to Config::limits and returns its index. The caller adds the name to
// LoadState::limits or LoadState::locks.
std::size_t add_limit(Limit limit, LoadState& loading);
// Reads when_exceeded, max_wait and fair_by. Returns true for when_exceeded: wait; the caller then
// reads max_waiting.
bool read_wait_terms(const Section& section, Limit& limit, LoadState& loading);
// Reads all locks. Call it after named limits are read. top: the top level, where `permits` must be
// set.
void read_locks(const Section& top, const Value& value, LoadState& loading);
// Returns true if an item of a route's `limits` is {lock: NAME} or {limit: NAME, …}, and not a
// limit of its own.
[[nodiscard]] bool names_limit(const Value& item);
// Reads an item {lock: NAME} or {limit: NAME, …}. Returns the limit's index in Config::limits;
// nullopt after reporting an error. Adds the item's `status` to Route::statuses.
[[nodiscard]] std::optional<std::size_t>
read_limit_reference(const Value& item, Route& route, const LoadState& loading);
// Returns the index in Config::limits of the limit with this name. Reports an error and returns
// nullopt if the name is unknown, or a lock's.
[[nodiscard]] std::optional<std::size_t>
find_limit(const Value& value, std::string_view name, const LoadState& loading);
// Reads require_fence, the name of a lock. Call it after read_locks().
void read_require_fence(const Value& value, Route& route, const LoadState& loading);
inline constexpr std::size_t most_trusted_fields = 64;
void read_peers(const Field& field, const Value& value, Config& config, LoadState& loading);
void read_trusted_fields(
    const Field& field, const Value& value, Config& config, LoadState& loading);
// Reads the header in which trusted proxies name the client. Call it after trusted_proxies is read.
void read_client_ip_header(const Section& top, TrustedProxies& trusted);
// Reads `key` and the keys that depend on it, such as missing_key.
void read_key(const Section& section, Limit& limit, LoadState& loading);
// Reads overrides, exempt and deny. Call it after the limit's kind and key are read.
void read_rules(const Section& section, Limit& limit);
// Reads the limit's algorithm and its settings. Call it after the limit's kind and numbers are
// read.
void read_algorithm(const Section& section, Limit& limit, LoadState& loading);
// Reads `burst` in the section of a limit or of an override. quota: the quota of the same section.
void read_burst_number(
    const Section& section,
    const Value& value,
    const Limit& limit,
    std::uint64_t quota,
    std::uint64_t& burst);
// Reads cost, reserve, count_when and refund. Call it after read_algorithm().
void read_pricing(const Section& section, Limit& limit);
[[nodiscard]] Parsed<std::uint64_t> parse_quota(std::string_view text, Limit::Kind kind);
void read_key_sources(const Value& value, std::vector<KeySource>& key); // one source, or a list
// Reports an error if the sources at `key` include tls:subject but no listener requests client
// certificates.
void check_subjects(const Section& section, std::string_view key, const LoadState& loading);
void read_max_body(const Field& field, const Value& value, std::optional<std::uint64_t>& most);
void read_set_headers(
    const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading);
void read_edits(const Value& value, EditedHead head, FieldEdits& edits, const LoadState& loading);
// Reads the keys that change a route's path. Call it after the match is read.
void read_path_changes(const Section& section, const PathRules& rules, Route& route);
// Reads a route's upstream, or its own response (respond, redirect).
void read_action(const Section& section, Route& route, LoadState& loading);
// Reads all routes. Call it after upstreams and named limits are read.
void read_routes(const Value& value, LoadState& loading);

// Reads an inline limit of a route; returns its index in Config::limits. position: position in the
// route's list, from 1; part of the default name.
[[nodiscard]] std::size_t
read_inline_limit(const Value& value, const Route& route, std::size_t position, LoadState& loading);

// Returns the index of `name`; nullopt after reporting an unknown name with a suggestion. kind: the
// kind in words for the error, such as "an upstream".
[[nodiscard]] std::optional<std::size_t> find_name(
    const Value& value,
    std::string_view name,
    const LoadState::Names& names,
    std::string_view kind);

} // namespace stint::config
