#include "upstream/pool.hpp"

#include "net/address.hpp"
#include "net/io.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>

namespace stint::upstream {

const std::string& Lease::endpoint() const noexcept {
    return pool_->endpoint();
}

net::Task<ErrorCode> Lease::connect() {
    // A copy: a new answer from the resolver may replace the pool's list meanwhile.
    const std::vector<net::Endpoint> addresses(pool_->addresses());
    ErrorCode error = net::asio::error::host_not_found;
    for (const net::Endpoint& address : addresses) {
        net::close(socket());
        socket().open(address.protocol(), error);
        if (error)
            co_return error;
        auto [failed] = co_await socket().async_connect(address, net::as_result);
        error = failed;
        if (!error) {
            ErrorCode ignored;
            if (!net::is_unix(address))
                socket().set_option(net::asio::ip::tcp::no_delay{true}, ignored);
            co_return error;
        }
        if (error == net::asio::error::operation_aborted || !socket().is_open())
            co_return error; // aborted by our owner: no further address
    }
    co_return error;
}

void Lease::keep(SteadyTime now) noexcept {
    pool_->give_back(std::move(connection_), now);
}

void Lease::abort() noexcept {
    if (connection_)
        net::close(connection_->socket);
}

Lease Pool::take_idle() noexcept {
    while (!idle_.empty()) {
        std::unique_ptr<Connection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (net::probe(connection->socket) == net::Silence::silent)
            return {*this, std::move(connection), true};
    }
    return {};
}

Lease Pool::make_new(const net::Executor& executor) {
    return {*this, std::make_unique<Connection>(executor), false};
}

void Pool::sweep(SteadyTime now, Duration idle) noexcept {
    std::erase_if(idle_, [&](const std::unique_ptr<Connection>& connection) {
        return now - connection->idle_since >= idle ||
               net::probe(connection->socket) != net::Silence::silent;
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
    if (retired_ || idle_.size() >= max_idle)
        return;
    if (idle_.capacity() == 0)
        idle_.reserve(max_idle);
    connection->idle_since = now;
    idle_.push_back(std::move(connection));
}

} // namespace stint::upstream
