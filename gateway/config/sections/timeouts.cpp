// Reads timeouts of the whole configuration, of upstreams and of routes.
#include "config/fields/shared_rows.hpp"

#include <array>
#include <chrono>

namespace stint::config {

namespace {

constexpr std::string_view a_timeout = "a duration such as 2s";
constexpr milliseconds longest_drain_delay = std::chrono::minutes{10};

// Timeouts that may be set for the whole configuration, for an upstream and for a route.
constexpr Field body_idle_field{
    .key = "body_idle",
    .about = "Without a byte of a body in transit, on either side, in either direction.",
    .expected = a_timeout};
constexpr Field connect_field{
    .key = "connect",
    .about = "To establish a connection to an upstream; then 504.",
    .expected = a_timeout};
constexpr Field response_field{
    .key = "response",
    .about = "From a request's last byte to the upstream's response head; then 504.",
    .expected = a_timeout};
constexpr Field tunnel_idle_field{
    .key = "tunnel_idle",
    .about = "Without a byte in either direction, once a connection has switched protocols.",
    .expected = a_timeout};

constexpr Field inherited(Field field) {
    field.otherwise = "the upstream's, else that of the whole configuration";
    return field;
}

using TimeoutRow = Fields<Timeouts>;
constexpr std::array timeout_table{
    TimeoutRow::duration<&Timeouts::head>(
        {.key = "head",
         .about =
             "For a client to send the whole head of a request, from its first byte; then 408.",
         .expected = a_timeout}),
    TimeoutRow::duration<&Timeouts::body_idle>(body_idle_field),
    TimeoutRow::duration<&Timeouts::idle>(
        {.key = "idle",
         .about =
             "Between two requests on a client's connection; also how long an unused connection "
             "to an upstream is kept.",
         .expected = a_timeout}),
    TimeoutRow::duration<&Timeouts::connect>(connect_field),
    TimeoutRow::duration<&Timeouts::response>(response_field),
    TimeoutRow::duration<&Timeouts::tunnel_idle>(tunnel_idle_field),
    TimeoutRow::duration<&Timeouts::drain>(
        {.key = "drain",
         .about = "From the begin of the drain until requests still in flight are aborted.",
         .expected = a_timeout}),
    TimeoutRow::duration<&Timeouts::drain_delay>(
        {.key = "drain_delay",
         .about = "From SIGTERM to the drain: /readyz is 503, and all else goes on, so that "
                  "balancers can turn away first.",
         .expected = "a duration such as 5s, or 0s"},
        milliseconds{1},
        longest_drain_delay,
        "0s"),
};

using OverrideRow = Fields<TimeoutOverrides>;
constexpr std::array timeout_override_table{
    OverrideRow::duration<&TimeoutOverrides::body_idle>(inherited(body_idle_field)),
    OverrideRow::duration<&TimeoutOverrides::connect>(inherited(connect_field)),
    OverrideRow::duration<&TimeoutOverrides::response>(inherited(response_field)),
    OverrideRow::duration<&TimeoutOverrides::tunnel_idle>(inherited(tunnel_idle_field)),
};

} // namespace

Table<Timeouts> timeout_fields() {
    return timeout_table;
}

Table<TimeoutOverrides> timeout_override_fields() {
    return timeout_override_table;
}

void read_overrides(const Value& value, TimeoutOverrides& timeouts, LoadState& loading) {
    if (const auto section =
            open_section(value, timeout_override_fields(), "a map such as {connect: 2s}"))
        read_fields(*section, timeout_override_fields(), timeouts, loading);
}

} // namespace stint::config
