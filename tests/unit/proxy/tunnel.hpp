// A request that offers to switch protocols, and what follows.
#pragma once

#include "fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace stint::test {

inline constexpr std::string_view offer = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                                          "Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n";
inline constexpr std::string_view switching =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Accept: y\r\n\r\n";
inline constexpr std::string_view brief_slot =
    "limits: {slot: {concurrent: 1, ws_holds_slot: false}, held: {concurrent: 2}}\n"
    "routes: [{name: all, match: {path: /}, upstream: origin, limits: [slot, held]}]";
inline constexpr std::string_view foo_too =
    "routes: [{name: all, match: {path: /}, upstream: origin, upgrade: [websocket, foo]}]";

// A request that has reached its upstream, and what follows.
struct Tunnel {
    explicit Tunnel(std::string_view yaml = one_at_a_time, std::string_view request = offer)
        : gateway{yaml} {
        client.send(request);
        upstream = gateway.upstream.accept();
        head = upstream.read_head();
    }

    // The 101 as the client sees it.
    std::string open(std::string_view answer = switching) {
        upstream.send(answer);
        return client.read_head();
    }

    [[nodiscard]] std::uint64_t open_tunnels() { return gateway.context().counters.tunnels_open; }

    // Nothing is left of it but a clean end.
    void check_over(Outcome outcome = Outcome::forwarded) {
        gateway.run_until([&] { return gateway.context().connections.empty(); });
        CHECK(open_tunnels() == 0);
        CHECK(gateway.pooled() == 0);
        CHECK(gateway.ended(outcome, 1) == 1);
    }

    InProcessGateway gateway;
    Wire client = gateway.connect();
    Wire upstream{gateway.loop(), {}};
    std::string head;
};

} // namespace stint::test
