#include "upstream/pool.hpp"

#include "net/address.hpp"
#include "net/io.hpp"
#include "tls/client.hpp"
#include "upstream/race.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>

namespace stint::upstream {

const std::string& Lease::endpoint() const noexcept {
    return pool_->endpoint();
}

net::Task<Lease::Connected> Lease::connect(std::string_view first) {
    const ErrorCode error = co_await connect_to_any();
    if (error)
        co_return Connected{error, false, {}};
    ErrorCode ignored;
    if (!net::is_unix(stream().socket().remote_endpoint(ignored)))
        stream().socket().set_option(net::asio::ip::tcp::no_delay{true}, ignored);
    if (!first.empty()) {
        net::Gather gather;
        gather.add(first);
        const ErrorCode unsaid = co_await net::send_all(stream(), gather);
        if (unsaid)
            co_return Connected{unsaid, false, {}};
    }
    if (!pool_->tls())
        co_return Connected{};
    Connected connected = co_await shake_hands();
    co_return connected;
}

net::Task<ErrorCode> Lease::connect_to_any() {
    // A copy: a new answer from the resolver may replace the pool's list meanwhile.
    const std::vector<net::Endpoint> addresses(pool_->addresses());
    if (addresses.empty())
        co_return net::asio::error::host_not_found;
    if (addresses.size() == 1) {
        ErrorCode error;
        stream().socket().open(addresses.front().protocol(), error);
        if (error)
            co_return error;
        auto [failed] = co_await stream().socket().async_connect(addresses.front(), net::as_result);
        co_return failed;
    }
    Race race{stream().socket().get_executor(), addresses};
    const Race::Known known{connection_->race, race};
    const ErrorCode error = co_await race.run();
    if (!error)
        stream().socket() = race.take_winner();
    co_return error;
}

net::Task<Lease::Connected> Lease::shake_hands() {
    stream().begin_tls(pool_->tls()->connect(pool_->server_name()));
    const ErrorCode error = co_await net::handshake(stream());
    Connected connected{error, true, {}};
    // No co_await in between: OpenSSL's error queue belongs to the thread.
    if (error)
        connected.reason = tls::reason_of_failure(stream().tls()->ssl(), pool_->server_name());
    co_return connected;
}

void Lease::keep(SteadyTime now) noexcept {
    pool_->give_back(std::move(connection_), now);
}

void Lease::abort() noexcept {
    if (!connection_)
        return;
    if (connection_->race != nullptr)
        connection_->race->give_up();
    net::close(connection_->stream);
}

Lease Pool::take_idle() noexcept {
    while (!idle_.empty()) {
        std::unique_ptr<Connection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (net::probe(connection->stream) == net::SocketState::silent)
            return {*this, std::move(connection), true};
    }
    return {};
}

Lease Pool::make_new(const net::Executor& executor) {
    auto made = std::make_unique<Connection>(executor);
    made->version = version_;
    return {*this, std::move(made), false};
}

void Pool::set_addresses(std::vector<net::Endpoint> addresses) {
    if (addresses == addresses_)
        return;
    addresses_ = std::move(addresses);
    ++version_;
    std::erase_if(idle_, [this](const auto& connection) { return !leads_to_address(*connection); });
    for (const std::unique_ptr<Connection>& connection : idle_)
        connection->version = version_;
}

bool Pool::leads_to_address(Connection& connection) const noexcept {
    if (connection.version == version_) [[likely]]
        return true;
    ErrorCode error;
    const net::Endpoint peer = connection.stream.socket().remote_endpoint(error);
    return !error && std::ranges::find(addresses_, peer) != addresses_.end();
}

void Pool::sweep(SteadyTime now, Duration idle) noexcept {
    std::erase_if(idle_, [&](const std::unique_ptr<Connection>& connection) {
        return now - connection->idle_since >= idle ||
               net::probe(connection->stream) != net::SocketState::silent;
    });
}

bool Pool::close_oldest() noexcept {
    if (idle_.empty())
        return false;
    idle_.erase(idle_.begin());
    return true;
}

void Pool::retire() noexcept {
    retired_ = true;
    idle_.clear();
}

void Pool::give_back(std::unique_ptr<Connection> connection, SteadyTime now) noexcept {
    if (retired_ || idle_.size() >= max_idle || !leads_to_address(*connection))
        return;
    if (idle_.capacity() == 0)
        idle_.reserve(max_idle);
    connection->version = version_;
    connection->idle_since = now;
    idle_.push_back(std::move(connection));
}

} // namespace stint::upstream
