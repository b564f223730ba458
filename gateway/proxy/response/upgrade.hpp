// A request that offers to switch protocols (RFC 9110 section 7.8), and the tunnel that follows.
#pragma once

#include "base/counted.hpp"
#include "base/message.hpp"
#include "net/types.hpp"
#include "proxy/request.hpp"
#include "server/tunnel.hpp"
#include "upstream/upstream_stream.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stint::proxy {

// The owner awaits join() before it destroys the upgrade.
class Upgrade {
  public:
    // Returns the upgrade of a request that offers protocols which its route lets through. Returns
    // null for any other request.
    [[nodiscard]] static std::unique_ptr<Upgrade> offered_by(Request& request);

    Upgrade(Request& request, std::string offer) : request_{request}, offer_{std::move(offer)} {}
    Upgrade(const Upgrade&) = delete;
    Upgrade& operator=(const Upgrade&) = delete;

    // Returns the protocols to offer to the upstream, never empty.
    [[nodiscard]] std::string_view offer() const noexcept { return offer_; }
    // Returns the protocols that a 101 switches to; empty if one of them was not offered, or if it
    // does not accept the WebSocket that the gateway has asked for.
    [[nodiscard]] std::string chosen_by(const ResponseHead& head) const;
    // Notes that the 101 was sent to the client.
    void set_switched() noexcept { switched_ = true; }
    [[nodiscard]] bool switched() const noexcept { return switched_; }

    // Runs the tunnel, once switched. Bytes that the client sent behind its request belong to the
    // tunnel. Afterwards the request is aborted, unless both sides have closed or were idle for too
    // long.
    [[nodiscard]] net::Task<> run(upstream::UpstreamStream& upstream);
    // Ends the tunnel soon.
    void end() noexcept;
    // Ends the tunnel if a connection was reset. Called with every tick while one side is not read.
    void poll_peer_close() noexcept;
    // Waits until no coroutine of the tunnel refers to this object.
    [[nodiscard]] net::Task<> join();

  private:
    void judge() noexcept;

    Request& request_;
    const std::string offer_;
    bool switched_ = false;
    std::unique_ptr<net::ByteEnd> client_; // the tunnel's client; null before run()
    std::optional<server::Tunnel> tunnel_;
    std::optional<Counted> open_; // while there is a tunnel
};

} // namespace stint::proxy
