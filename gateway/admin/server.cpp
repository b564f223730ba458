#include "admin/server.hpp"

#include "admin/connection.hpp"
#include "net/acceptor.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "runtime/token_file.hpp"

#include <boost/asio/steady_timer.hpp>
#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

namespace stint::admin {
namespace {

using namespace std::chrono_literals;

using Timer = net::asio::basic_waitable_timer<
    std::chrono::steady_clock,
    net::asio::wait_traits<std::chrono::steady_clock>,
    net::Executor>;

constexpr auto tick_length = 1s;
// Without descriptors or memory, accepting again at once would only spin.
constexpr auto pause_after_error = 100ms;

Result<net::ListeningSockets> open(const config::Address& address) {
    const auto endpoint = address.kind == config::Address::Kind::unix_socket
                              ? net::unix_endpoint(address.host)
                              : net::ip_endpoint(address.host, address.port);
    if (!endpoint)
        return {boost::system::in_place_error, endpoint.error()};
    return net::open_listeners(*endpoint, 1, {address.mode, address.group_id});
}

Reach reach_of(const net::Endpoint& address) {
    if (net::is_unix(address))
        return Reach::unix_socket;
    return net::is_loopback(address) ? Reach::loopback : Reach::network;
}

} // namespace

struct Server::Listening : std::enable_shared_from_this<Listening> {
    Listening(net::ListeningSockets opened, std::shared_ptr<Shared> for_all)
        : address{opened.address}, file{std::move(opened.file)}, shared{std::move(for_all)},
          tls{shared->service.gateway.admin_tls()},
          executor{shared->service.gateway.control().get_executor()}, acceptor{executor},
          pause{executor}, ticker{executor} {
        acceptor.assign(address.protocol(), opened.sockets.front().release());
    }

    void tick() {
        shared->connections.expire(net::read_steady_clock());
        ticker.expires_after(tick_length);
        ticker.async_wait([self = shared_from_this()](const ErrorCode& error) {
            if (!error && self->acceptor.is_open())
                self->tick();
        });
    }

    // Returns TLS for the next connection, with the newest certificate; nullptr on a plain
    // listener. TLS stays on or off as at the start.
    tls::SslPtr next_ssl() {
        if (!tls)
            return nullptr;
        if (runtime::TlsServerPtr newest = shared->service.gateway.admin_tls())
            tls = std::move(newest);
        tls::SslPtr ssl = tls->accept();
        if (!ssl)
            throw std::bad_alloc{};
        return ssl;
    }

    void serve(net::Socket socket) {
        try {
            auto connection = std::make_unique<Connection>(shared, std::move(socket), next_ssl());
            net::spawn(executor, Connection::serve(std::move(connection)));
        } catch (const std::exception& failure) {
            spdlog::error("an admin connection could not be served: {}", failure.what());
        }
    }

    static net::Task<> accept_all(std::shared_ptr<Listening> self) {
        while (self->acceptor.is_open()) {
            auto [error, socket] = co_await self->acceptor.async_accept(net::as_result);
            if (!self->acceptor.is_open())
                co_return;
            if (!error) {
                self->serve(std::move(socket));
                continue;
            }
            if (error == boost::system::errc::connection_aborted)
                continue; // that client left before it was its turn
            self->pause.expires_after(pause_after_error);
            co_await self->pause.async_wait(net::as_result);
        }
    }

    void stop() {
        if (acceptor.is_open())
            net::remove_socket_file(address, file);
        ErrorCode ignored;
        acceptor.close(ignored);
        pause.cancel();
        ticker.cancel();
        shared->connections.close_all();
    }

    net::Endpoint address;
    Descriptor file; // net::ListeningSockets::file
    std::shared_ptr<Shared> shared;
    runtime::TlsServerPtr tls; // nullptr: plain
    net::Executor executor;
    net::Acceptor acceptor;
    Timer pause;
    Timer ticker;
};

Server::Server(runtime::Gateway& gateway) : gateway_{gateway} {}

Server::~Server() {
    stop();
}

Result<void, std::string> Server::start(const config::Admin& admin) {
    Policy policy{
        .host = admin.address.host,
        .token = {},
        .read_only = admin.read_only,
        .tls = admin.tls.has_value(),
        .hosts = admin.hosts};
    if (!admin.token_file.empty()) {
        auto token = runtime::read_token(admin.token_file);
        if (!token)
            return token.error();
        policy.token = std::move(*token);
    }
    Result<net::ListeningSockets> opened = open(admin.address);
    if (!opened)
        return "cannot listen on " + admin.address.text + ": " + opened.error().message();
    policy.reach = reach_of(opened->address);
    auto shared = std::make_shared<Shared>(Service{
        gateway_,
        std::move(policy),
        {admin, gateway_.workers(), gateway_.config().pin_workers, gateway_.config().state}});
    listening_ = std::make_shared<Listening>(std::move(*opened), std::move(shared));
    net::spawn(listening_->executor, Listening::accept_all(listening_));
    listening_->tick();
    spdlog::info("admin listening on {}", net::to_text(listening_->address));
    return {};
}

void Server::stop() {
    if (listening_)
        listening_->stop();
}

const net::Endpoint& Server::address() const noexcept {
    return listening_->address;
}

} // namespace stint::admin
