#include "admin/server.hpp"

#include "admin/request_handler.hpp"
#include "admin/service.hpp"
#include "base/object_pool.hpp"
#include "net/acceptor.hpp"
#include "net/address.hpp"
#include "net/clock.hpp"
#include "net/io.hpp"
#include "runtime/token_file.hpp"
#include "server/connection_slot.hpp"
#include "server/http1_connection.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <fcntl.h>
#include <utility>

namespace stint::admin {
namespace {

using namespace std::chrono_literals;

using Timer = net::asio::basic_waitable_timer<
    std::chrono::steady_clock,
    net::asio::wait_traits<std::chrono::steady_clock>,
    net::Executor>;

constexpr auto tick_length = 50ms;
// Delay after a failed accept: without free file descriptors or memory, an immediate retry would
// spin.
constexpr auto pause_after_error = 100ms;

Result<net::ListeningSockets>
open_socket(const config::Address& address, net::InheritedSockets& inherited) {
    const auto endpoint = address.kind == config::Address::Kind::unix_socket
                              ? net::unix_endpoint(address.host)
                              : net::ip_endpoint(address.host, address.port);
    if (!endpoint)
        return {boost::system::in_place_error, endpoint.error()};
    if (auto taken = inherited.take(*endpoint, 1))
        return std::move(*taken);
    return net::open_listeners(*endpoint, 1, {address.mode, address.group_id});
}

Reach reach_of(const net::Endpoint& address) {
    if (net::is_unix(address))
        return Reach::unix_socket;
    return net::is_loopback(address) ? Reach::loopback : Reach::network;
}

} // namespace

// The listening socket, and who may ask.
struct Server::Opened {
    net::ListeningSockets sockets;
    Policy policy;
};

// The listener, its connections and their shared state. Kept alive by its coroutines.
struct Server::Listening final : server::Service, std::enable_shared_from_this<Listening> {
    Listening(net::ListeningSockets opened, admin::Service for_all)
        : address{opened.address}, file{std::move(opened.file)}, service{std::move(for_all)},
          tls{service.gateway.store().in_force()->tls.admin},
          executor{service.gateway.control().get_executor()}, totals{service.gateway.hasher()},
          loop{executor, totals, counters, RequestHandler::max_head}, acceptor{executor},
          pause{executor}, ticker{executor}, limits{
                                                 .head_timeout = RequestHandler::timeout,
                                                 .idle_timeout = RequestHandler::timeout,
                                                 .max_head = RequestHandler::max_head,
                                                 .max_connections =
                                                     service.running.admin->max_connections,
                                                 .head_blocks =
                                                     &loop.head_blocks(RequestHandler::max_head),
                                                 .head_too_large =
                                                     "The request's head is larger than 16 KiB."} {
        acceptor.assign(address.protocol(), opened.sockets.front().release());
    }

    [[nodiscard]] const server::ConnectionSettings& settings() const noexcept override {
        return limits;
    }
    [[nodiscard]] server::RequestHandlerPtr make_handler(server::ClientStream& stream) override {
        return as_base<server::RequestHandler>(handlers.make(service, loop, stream));
    }
    void on_connections(int) noexcept override {}

    // Runs every 50 ms while there are connections: expires timeouts, and frees memory after the
    // last connection.
    void tick() {
        ticking = true;
        loop.deadlines.expire(net::read_steady_clock());
        loop.clients.poll();
        if (loop.draining)
            loop.drain_connections(false);
        if (loop.connections.empty()) {
            ticking = false;
            loop.trim();
            if (const auto then = std::exchange(idle, nullptr))
                then();
            return;
        }
        ticker.expires_after(tick_length);
        ticker.async_wait([self = shared_from_this()](const ErrorCode& error) {
            if (!error)
                self->tick();
        });
    }

    // Returns the options of the next connection, with the newest certificate. A reload turns TLS
    // neither on nor off.
    server::ListenerOptions next_options() {
        // half_close_allowed: a client may shut down its sending side right after its request.
        const config::Http2& http2 = service.running.admin->http2;
        server::ListenerOptions options{
            .half_close_allowed = true, .http2_prior_knowledge = http2.h2c, .http2 = http2.bounds};
        if (!tls)
            return options;
        if (runtime::TlsServerPtr newest = service.gateway.store().in_force()->tls.admin)
            tls = std::move(newest);
        options.tls = tls;
        return options;
    }

    // Closes the oldest open connection. Returns false if none is open: all are closed, and only
    // wait for their handlers to end.
    bool close_oldest() noexcept {
        for (server::Http1Connection& connection : loop.connections)
            if (connection.io().socket().is_open()) {
                connection.abort(); // may destroy the connection
                return true;
            }
        return false;
    }

    // Serves a new connection. At max_connections it closes the oldest connection, even an active
    // one, so that long-lived connections cannot lock out new clients.
    void serve(net::Socket socket) {
        if (totals.connections.load(std::memory_order_relaxed) >= limits.max_connections &&
            !close_oldest())
            return;
        try {
            ErrorCode unknown; // ignored: the peer may have disconnected
            const net::Endpoint peer = socket.remote_endpoint(unknown);
            auto connection = std::make_unique<server::Http1Connection>(
                loop, *this, server::acquire_connection_slot(loop.worker_load), std::move(socket),
                net::ip_address_of(peer), next_options());
            net::spawn(executor, serve_all(shared_from_this(), std::move(connection)));
        } catch (const std::exception& failure) {
            spdlog::error("an admin connection could not be served: {}", failure.what());
        }
        if (!ticking)
            tick();
    }

    static net::Task<>
    serve_all(std::shared_ptr<Listening>, std::unique_ptr<server::Http1Connection> connection) {
        co_await server::Http1Connection::serve(std::move(connection));
    }

    static net::Task<> accept_all(std::shared_ptr<Listening> self) {
        while (self->acceptor.is_open()) {
            auto [error, socket] = co_await self->acceptor.async_accept(net::as_result);
            // A connection that was accepted right before leave() is served.
            if (!self->acceptor.is_open() && (error || !self->loop.draining))
                co_return;
            if (!error) {
                self->serve(std::move(socket));
                continue;
            }
            if (error == boost::system::errc::connection_aborted)
                continue; // the client closed the connection before it was accepted
            self->pause.expires_after(pause_after_error);
            co_await self->pause.async_wait(net::as_result);
        }
    }

    void leave() {
        ErrorCode ignored;
        acceptor.close(ignored); // its file is another process's
        pause.cancel();
        loop.draining = true;
    }

    void stop() {
        if (acceptor.is_open())
            net::remove_socket_file(address, file);
        ErrorCode ignored;
        acceptor.close(ignored);
        pause.cancel();
        ticker.cancel();
        loop.abort_connections();
    }

    net::Endpoint address;
    Descriptor file; // moved from net::ListeningSockets::file
    admin::Service service;
    runtime::TlsServerPtr tls; // nullptr means plaintext
    net::Executor executor;
    server::Totals totals;
    observe::WorkerCounters counters; // required by server::Loop, but not part of any output
    server::Loop loop;
    net::Acceptor acceptor;
    Timer pause;
    Timer ticker;
    server::ConnectionSettings limits;
    ObjectPool<RequestHandler> handlers;
    bool ticking = false;
    std::function<void()> idle; // see await_idle()
};

Server::Server(runtime::Gateway& gateway) : gateway_{gateway} {}

// Runs the control loop once more, so that the coroutines of aborted connections end while the loop
// exists.
Server::~Server() {
    stop();
    gateway_.control().restart();
    gateway_.control().poll();
}

Result<void, std::string> Server::open(net::InheritedSockets& inherited) {
    if (!gateway_.config().admin)
        return {};
    const config::Admin& admin = *gateway_.config().admin;
    Policy policy{
        .host = admin.address.host,
        .token = {},
        .open_paths = admin.open_paths,
        .read_only = admin.read_only,
        .tls = admin.tls.has_value(),
        .hosts = admin.hosts};
    for (const auto& [file, token] :
         {std::pair{&admin.token_file, &policy.token},
          std::pair{&admin.read_token_file, &policy.read_token}}) {
        if (file->empty())
            continue;
        auto read = runtime::read_token(*file);
        if (!read)
            return read.error();
        *token = std::move(*read);
    }
    Result<net::ListeningSockets> opened = open_socket(admin.address, inherited);
    if (!opened)
        return "cannot listen on " + admin.address.text + ": " + opened.error().message();
    policy.reach = reach_of(opened->address);
    opened_ = std::make_unique<Opened>(Opened{std::move(*opened), std::move(policy)});
    return {};
}

void Server::start() {
    if (!opened_)
        return;
    Service service{gateway_, std::move(opened_->policy), running(gateway_.config())};
    listening_ = std::make_shared<Listening>(std::move(opened_->sockets), std::move(service));
    opened_.reset();
    net::spawn(listening_->executor, Listening::accept_all(listening_));
    spdlog::info("admin listening on {}", net::to_text(listening_->address));
}

std::vector<Descriptor> Server::copy_sockets() const {
    std::vector<Descriptor> copies;
    if (listening_)
        copies.emplace_back(::fcntl(listening_->acceptor.native_handle(), F_DUPFD_CLOEXEC, 0));
    return copies;
}

std::vector<std::string> Server::own_files() const {
    if (!listening_ || listening_->file.get() < 0)
        return {};
    return {net::to_text(listening_->address)};
}

void Server::leave() {
    if (listening_)
        listening_->leave();
}

void Server::await_idle(std::function<void()> idle) {
    if (!listening_ || listening_->loop.connections.empty())
        return idle();
    listening_->idle = std::move(idle);
}

void Server::stop() {
    if (listening_)
        listening_->stop();
}

const net::Endpoint& Server::address() const noexcept {
    return listening_->address;
}

} // namespace stint::admin
