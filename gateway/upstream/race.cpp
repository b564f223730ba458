#include "upstream/race.hpp"

#include "net/io.hpp"

#include <algorithm>
#include <utility>

namespace stint::upstream {

std::vector<net::Endpoint> interleave(std::vector<net::Endpoint> addresses) {
    if (addresses.empty())
        return addresses;
    const int first_family = addresses.front().protocol().family();
    const auto second = std::stable_partition(
        addresses.begin(), addresses.end(),
        [&](const net::Endpoint& address) { return address.protocol().family() == first_family; });
    std::vector<net::Endpoint> mixed;
    mixed.reserve(addresses.size());
    for (auto first = addresses.begin(), other = second;
         first != second || other != addresses.end();) {
        if (first != second)
            mixed.push_back(std::move(*first++));
        if (other != addresses.end())
            mixed.push_back(std::move(*other++));
    }
    return mixed;
}

Race::Race(const net::Executor& executor, std::vector<net::Endpoint> addresses)
    : addresses_(interleave(std::move(addresses))), timer_{executor} {}

net::Task<ErrorCode> Race::run() {
    begin_next();
    while (pending_ > 0)
        co_await ended_.wait();
    co_return error_;
}

void Race::give_up() noexcept {
    error_ = net::asio::error::operation_aborted;
    if (winner_)
        net::close(attempts_[*winner_]);
    winner_.reset();
    if (!over_)
        finish();
}

// Begins the next attempt. Skips addresses that fail at once.
void Race::begin_next() {
    while (!over_ && attempts_.size() < addresses_.size()) {
        const std::size_t attempt = attempts_.size();
        net::Socket& socket = attempts_.emplace_back(timer_.get_executor());
        socket.open(addresses_[attempt].protocol(), error_);
        if (error_)
            continue;
        ++pending_;
        socket.async_connect(addresses_[attempt], [this, attempt](const ErrorCode& error) {
            on_end(attempt, error);
        });
        return await_head_start();
    }
    timer_.cancel(); // no attempt is left to start
}

void Race::await_head_start() {
    if (attempts_.size() == addresses_.size())
        return;
    ++pending_;
    timer_.expires_after(head_start); // also cancels the wait that began with the previous attempt
    timer_.async_wait([this](const ErrorCode& error) {
        if (!error && !over_)
            begin_next();
        one_less();
    });
}

void Race::on_end(std::size_t attempt, const ErrorCode& error) {
    if (!over_) {
        error_ = error;
        if (!error) {
            winner_ = attempt;
            finish();
        } else {
            begin_next();
        }
    }
    one_less();
}

void Race::finish() noexcept {
    over_ = true;
    timer_.cancel();
    for (std::size_t each = 0; each < attempts_.size(); ++each)
        if (winner_ != each)
            net::close(attempts_[each]);
}

// Notes that one handler has ended. After the last one, the coroutine in run() may destroy this
// object.
void Race::one_less() {
    if (--pending_ == 0)
        ended_.signal();
}

} // namespace stint::upstream
