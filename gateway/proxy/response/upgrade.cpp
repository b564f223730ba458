#include "proxy/response/upgrade.hpp"

#include "http/upgrade.hpp"
#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <span>

namespace stint::proxy {

std::unique_ptr<Upgrade> Upgrade::offered_by(Request& request) {
    if (!request.head().ids.contains(FieldId::upgrade)) [[likely]]
        return nullptr;
    std::string offer = http::offered_protocols(request.head(), request.route().upgrades);
    return offer.empty() ? nullptr : std::make_unique<Upgrade>(request, std::move(offer));
}

std::string Upgrade::chosen_by(const ResponseHead& head) const {
    if (request_.head().extended_connect && !http::accepts_websocket(request_.head(), head))
        return {};
    return http::chosen_protocols(head, offer_);
}

net::Task<> Upgrade::run(upstream::UpstreamStream& upstream) {
    std::span<const char> early;
    client_ = co_await request_.stream().take_over(early);
    if (client_ == nullptr)
        request_.abort(AbortReason::client_gone);
    if (request_.is_aborted())
        co_return;
    net::Block block;
    std::size_t size = 0;
    net::Stream& server = upstream.take_over(block, size);
    Tunnel& tunnel = tunnel_.emplace(
        request_.context(), request_.stream(), *client_, server,
        request_.route().timeouts.tunnel_idle);
    carries_up_ = true;
    try {
        net::spawn(request_.context().executor, carry_up(*this, {early.data(), early.size()}));
    } catch (...) {
        carries_up_ = false; // no coroutine runs that would reset it
        throw;
    }
    co_await tunnel.carry_down(block, size);
    co_await join();
    judge();
}

// Relays from client to upstream in a coroutine of its own. run() waits for its end.
net::Task<> Upgrade::carry_up(Upgrade& self, std::string_view early) {
    Tunnel& tunnel = *self.tunnel_;
    try {
        co_await tunnel.carry_up(early);
    } catch (const std::exception& failure) {
        if (self.request_.context().shared().failures_logged.pass(net::read_steady_clock()))
            spdlog::error("a tunnel could not be relayed: {}", failure.what());
        tunnel.end();
    }
    self.carries_up_ = false;
    self.carried_up_.signal();
}

net::Task<> Upgrade::join() {
    while (carries_up_)
        co_await carried_up_.wait();
}

void Upgrade::judge() noexcept {
    request_.stream().count_raw(tunnel_->bytes_up(), tunnel_->bytes_down());
    if (tunnel_->ended() == Tunnel::End::client_failed)
        request_.abort(AbortReason::client_gone);
    else if (tunnel_->ended() == Tunnel::End::upstream_failed)
        request_.abort(AbortReason::upstream_broken);
    else if (tunnel_->ended() == Tunnel::End::told)
        request_.abort(AbortReason::client_gone); // an earlier abort reason stays
}

void Upgrade::end() noexcept {
    if (tunnel_)
        tunnel_->end();
}

void Upgrade::poll_peer_close() noexcept {
    if (tunnel_)
        tunnel_->poll_peer_close();
}

} // namespace stint::proxy
