// A request that switches protocols: what it offers, the 101, and the tunnel that follows.
#include "http/upgrade.hpp"

#include "net/clock.hpp"
#include "proxy/exchange.hpp"
#include "proxy/response/tunnel.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace stint::proxy {

// Returns the protocols of the request's Upgrade that go on; empty for an ordinary request.
std::string_view Exchange::offer_of(const RequestHead& head) {
    std::string offer = http::offered_protocols(head, route().upgrades);
    upgrade_.reset();
    if (offer.empty())
        return {};
    upgrade_ = std::make_unique<UpgradeState>();
    upgrade_->offer = std::move(offer);
    return upgrade_->offer;
}

bool Exchange::tunnels() const noexcept {
    return upgrade_ != nullptr && upgrade_->switched;
}

// Switches protocols. Afterwards block_ begins with the upstream's first bytes in the new protocol.
Exchange::Answer Exchange::on_upgrade(const ResponseHead& head, std::size_t head_size) {
    const std::string protocols = http::chosen_protocols(head, upgrade_->offer);
    if (protocols.empty()) {
        fail(
            502, pool_->endpoint() + " switched to a protocol that was not offered",
            observe::Outcome::upstream_failed);
        return Answer::failed;
    }
    if (!request_sent_) {
        fail(
            502, pool_->endpoint() + " switched protocols before it had the whole request",
            observe::Outcome::upstream_failed);
        return Answer::failed;
    }
    note_answer(head);
    const std::optional<http::Shaping> shape = shaping(&routing::RouteShape::response);
    // First, so that a client that has the 101 finds the slot free for its next connection.
    admission_.permit().release_early({answered_, wall_at(answered_)});
    const server::ForwardedResponse response{
        .head = head,
        .request_id = request_id_,
        .shaping = shape ? &*shape : nullptr,
        .policies = settle(head),
        .protocols = protocols};
    const Answer answer = send_head(response, {});
    if (answer != Answer::ready)
        return answer;
    drop_head(head_size);
    upgrade_->switched = true;
    return answer;
}

// Runs the tunnel. Bytes that the client sent behind its request are the tunnel's, never a request.
net::Task<> Exchange::run_tunnel() {
    std::span<const char> early;
    net::Stream* const client = co_await stream_.take_over(early);
    if (client == nullptr)
        abort(AbortReason::client_gone);
    if (abort_reason_ != AbortReason::no)
        co_return;
    answered_ = {};
    Tunnel& tunnel = upgrade_->tunnel.emplace(
        context_, stream_, *client, lease_.stream(), route().timeouts.tunnel_idle);
    body_pump_.running = true;
    try {
        net::spawn(context_.executor, carry_up(*this, {early.data(), early.size()}));
    } catch (...) {
        body_pump_.running = false; // no coroutine runs that would reset it
        throw;
    }
    co_await tunnel.carry_down(block_, filled_);
    while (body_pump_.running)
        co_await body_pump_.stopped.wait();
    judge_tunnel();
}

// Runs beside the way down; run_tunnel() waits for it. self: lives until pump_stopped() has been
// signalled.
net::Task<> Exchange::carry_up(Exchange& self, std::string_view early) {
    Tunnel& tunnel = *self.upgrade_->tunnel;
    try {
        co_await tunnel.carry_up(early);
    } catch (const std::exception& failure) {
        if (self.context_.shared().failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a tunnel could not be relayed: {}", failure.what());
        tunnel.end();
    }
    self.body_pump_.running = false;
    self.body_pump_.stopped.signal();
}

void Exchange::judge_tunnel() noexcept {
    const Tunnel& tunnel = *upgrade_->tunnel;
    stream_.count_raw(tunnel.bytes_up(), tunnel.bytes_down());
    if (tunnel.ended() == Tunnel::End::client_failed)
        abort(AbortReason::client_gone);
    else if (tunnel.ended() == Tunnel::End::upstream_failed)
        abort(AbortReason::upstream_broken);
    else if (tunnel.ended() == Tunnel::End::told)
        abort(AbortReason::client_gone); // unless it is known why
}

} // namespace stint::proxy
