#include "proxy/response/upgrade.hpp"

#include "http/upgrade.hpp"

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
    open_.emplace(request_.context().counters.tunnels_open);
    server::Tunnel& tunnel = tunnel_.emplace(
        request_.context(), &request_.stream(), *client_, server,
        request_.route().timeouts.tunnel_idle);
    co_await tunnel.run({early.data(), early.size()}, block, size);
    judge();
}

net::Task<> Upgrade::join() {
    if (tunnel_)
        co_await tunnel_->join();
}

void Upgrade::judge() noexcept {
    request_.stream().count_raw(tunnel_->bytes_up(), tunnel_->bytes_down());
    if (tunnel_->ended() == server::Tunnel::End::client_failed)
        request_.abort(AbortReason::client_gone);
    else if (tunnel_->ended() == server::Tunnel::End::upstream_failed)
        request_.abort(AbortReason::upstream_broken);
    else if (tunnel_->ended() == server::Tunnel::End::told)
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
