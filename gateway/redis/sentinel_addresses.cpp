#include "redis/sentinel_addresses.hpp"

#include "net/clock.hpp"

#include <chrono>
#include <utility>

namespace stint::redis {
namespace {

constexpr Duration longest_search = std::chrono::seconds{1};

} // namespace

SentinelAddresses::SentinelAddresses(
    const net::Executor& executor, SentinelWatch& watch, std::string server_name)
    : executor_{executor}, watch_{watch}, server_name_{std::move(server_name)}, timer_{executor} {}

SentinelAddresses::~SentinelAddresses() {
    cancel();
}

void SentinelAddresses::find(Found found) {
    search_ = std::move(found);
    timer_.expires_after(longest_search);
    timer_.async_wait([source = std::weak_ptr{self_}](const ErrorCode& error) {
        const auto live = source.lock();
        if (!error && live)
            (*live)->give_up();
    });
    look();
}

// Ends the search if a majority names a primary, else looks again when a Sentinel has answered.
void SentinelAddresses::look() {
    const auto primary = watch_.primary(net::read_steady_clock());
    if (!primary)
        return watch_.await_answer([this] { look(); });
    timer_.cancel();
    if (!addresses_ || found_ != primary)
        addresses_ = std::make_unique<HostAddresses>(
            executor_, primary->host, primary->port,
            server_name_.empty() ? primary->host : server_name_);
    found_ = primary;
    watch_.follow(*primary);
    addresses_->find(std::exchange(search_, nullptr));
}

void SentinelAddresses::give_up() {
    if (!search_)
        return; // it has ended in the same turn
    watch_.await_answer(nullptr);
    std::exchange(search_, nullptr)({{}, watch_.failure(net::read_steady_clock())});
}

void SentinelAddresses::cancel() noexcept {
    watch_.await_answer(nullptr);
    timer_.cancel();
    search_ = nullptr;
    if (addresses_)
        addresses_->cancel();
}

void SentinelAddresses::note_failure() noexcept {
    if (addresses_)
        addresses_->note_failure();
}

} // namespace stint::redis
