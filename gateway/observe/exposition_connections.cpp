// Metrics of client connections.
#include "observe/exposition_page.hpp"

namespace stint::observe {

void add_connections(Page& page, const WorkerCounters& sum) {
    page.gauge("stint_connections_open", "Open client connections.").add({}, sum.connections_open);
    page.gauge(
            "stint_tunnels_open",
            "Client connections that have switched to another protocol, such as WebSocket.")
        .add({}, sum.tunnels_open);
    page.counter("stint_connections_accepted_total", "Client connections accepted.")
        .add({}, sum.connections_accepted);
    auto turned_away = page.counter(
        "stint_connections_rejected_total",
        "Client connections turned away, by the bound that was reached.");
    turned_away.add({{"reason", "max_connections"}}, sum.connections_rejected);
    turned_away.add({{"reason", "per_client"}}, sum.rejected_per_client);
    auto slow = page.counter(
        "stint_slow_clients_total",
        "Clients given up because they sent a head or a body below min_rate.");
    slow.add({{"part", "head"}}, sum.slow_heads);
    slow.add({{"part", "body"}}, sum.slow_bodies);
    page.counter(
            "stint_accept_errors_total",
            "Failures to accept a connection (out of file descriptors, for example).")
        .add({}, sum.accept_errors);
    auto shed = page.counter(
        "stint_connections_shed_total",
        "Idle connections closed because descriptors or memory had run out, by whose they were.");
    shed.add({{"side", "client"}}, sum.shed_clients);
    shed.add({{"side", "upstream"}}, sum.shed_upstreams);
    auto handshakes = page.counter(
        "stint_tls_handshakes_total",
        "TLS handshakes with clients that were completed, by whether a session was resumed.");
    handshakes.add({{"resumed", "no"}}, sum.tls_handshakes - sum.tls_resumed);
    handshakes.add({{"resumed", "yes"}}, sum.tls_resumed);
    auto unshaken = page.counter(
        "stint_tls_handshake_failures_total", "TLS handshakes with clients that failed.");
    unshaken.add({{"reason", "plain_http"}}, sum.tls_plain_http);
    unshaken.add({{"reason", "other"}}, sum.tls_failures - sum.tls_plain_http);
    page.counter("stint_http2_connections_total", "Connections of clients that have spoken HTTP/2.")
        .add({}, sum.http2_connections);
    auto glitches = page.counter(
        "stint_http2_glitches_total",
        "Frames of HTTP/2 that a client has no reason to send often, by kind. Many of them end its "
        "connection.");
    for (std::size_t i = 0; i < http2_glitch_kinds; ++i)
        glitches.add({{"kind", std::string{http2_glitch_names[i]}}}, sum.http2_glitches[i]);
    auto unproxied = page.counter(
        "stint_proxy_protocol_rejected_total",
        "Connections closed for want of a trusted peer or of a well-formed PROXY header.");
    unproxied.add({{"reason", "untrusted"}}, sum.proxy_untrusted);
    unproxied.add({{"reason", "malformed"}}, sum.proxy_malformed);
}

void add_in_flight(Page& page, const ProcessFigures::InFlightFigures& figures) {
    page.gauge("stint_requests_in_flight_max", "max_requests_in_flight; 0: no bound.")
        .add({}, figures.max);
    page.gauge(
            "stint_requests_in_flight_counted",
            "Requests that count among max_requests_in_flight: those that began while it was set.")
        .add({}, figures.counted);
    page.counter(
            "stint_requests_in_flight_refused_total",
            "Requests refused because max_requests_in_flight was reached.")
        .add({}, figures.refused);
}

} // namespace stint::observe
