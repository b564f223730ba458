#include "redis/watched_addresses.hpp"

#include "net/clock.hpp"

#include <chrono>
#include <utility>

namespace stint::redis {
namespace {

constexpr Duration longest_search = std::chrono::seconds{1};

} // namespace

WatchedAddresses::WatchedAddresses(
    const net::Executor& executor, PrimaryWatch& watch, std::string server_name)
    : executor_{executor}, watch_{watch}, server_name_{std::move(server_name)}, timer_{executor} {}

WatchedAddresses::~WatchedAddresses() {
    cancel();
}

void WatchedAddresses::find(Found found) {
    search_ = std::move(found);
    timer_.expires_after(longest_search);
    timer_.async_wait([source = std::weak_ptr{self_}](const ErrorCode& error) {
        const auto live = source.lock();
        if (!error && live)
            (*live)->give_up();
    });
    look();
}

// Ends the search if a majority names a primary, else looks again when a voter has answered.
void WatchedAddresses::look() {
    const auto primary = watch_.primary(net::read_steady_clock());
    if (!primary)
        return watch_.await_answer([this] { look(); });
    timer_.cancel();
    const HostPort& at = primary->address;
    if (!addresses_ || found_ != at)
        addresses_ = std::make_unique<HostAddresses>(
            executor_, at.host, at.port, server_name_.empty() ? at.host : server_name_);
    found_ = at;
    watch_.follow(*primary);
    // The search is over: a timer that has expired already must not end it as well.
    addresses_->find(
        [search = std::exchange(search_, nullptr), asking = primary->asking](const Answer& found) {
            Answer answer = found;
            answer.address.asking = asking;
            search(answer);
        });
}

void WatchedAddresses::give_up() {
    if (!search_)
        return; // it has ended in the same turn
    watch_.await_answer(nullptr);
    std::exchange(search_, nullptr)({{}, watch_.failure(net::read_steady_clock())});
}

void WatchedAddresses::cancel() noexcept {
    watch_.await_answer(nullptr);
    timer_.cancel();
    search_ = nullptr;
    if (addresses_)
        addresses_->cancel();
}

void WatchedAddresses::note_failure() noexcept {
    if (addresses_)
        addresses_->note_failure();
}

} // namespace stint::redis
