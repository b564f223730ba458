#include "redis/watched_addresses.hpp"

#include "net/clock.hpp"
#include "redis/resp/numbers.hpp"

#include <chrono>
#include <utility>

namespace stint::redis {
namespace {

constexpr Duration longest_search = std::chrono::seconds{1};

// Returns the server in "ASK 3999 127.0.0.1:6381"; without a host it is the redirecting server's.
std::optional<HostPort> asked_server(std::string_view text, const HostPort& from) {
    if (!text.starts_with("ASK "))
        return std::nullopt;
    const std::string_view server = text.substr(text.rfind(' ') + 1);
    const std::size_t colon = server.rfind(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    const auto port = parse_length(server.substr(colon + 1));
    if (!port || *port == 0 || *port > 65'535)
        return std::nullopt;
    return HostPort{
        colon == 0 ? from.host : std::string{server.substr(0, colon)},
        static_cast<std::uint16_t>(*port)};
}

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
    if (std::exchange(owner_, primary) != primary)
        asked_.reset();
    const HostPort next = asked_.value_or(*primary);
    if (!addresses_ || found_ != next)
        addresses_ = std::make_unique<HostAddresses>(
            executor_, next.host, next.port, server_name_.empty() ? next.host : server_name_);
    found_ = next;
    watch_.follow(*primary);
    addresses_->find([this](const Answer& found) {
        Answer answer = found;
        answer.address.asking = asked_.has_value();
        std::exchange(search_, nullptr)(answer);
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
    asked_ = std::exchange(next_asked_, std::nullopt);
    if (addresses_)
        addresses_->note_failure();
}

void WatchedAddresses::note_redirect(std::string_view text) {
    next_asked_ = found_ ? asked_server(text, *found_) : std::nullopt;
    watch_.ask_all(true);
}

} // namespace stint::redis
