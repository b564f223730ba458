#include "redis/connection.hpp"

#include "redis/connection_core.hpp"
#include "redis/resp/command.hpp"

#include <utility>

namespace stint::redis {

Connection::Connection(
    const net::Executor& executor,
    Address address,
    std::shared_ptr<const ConnectionSettings> settings,
    Owner& owner)
    : core_{std::make_shared<Core>(executor, std::move(address), std::move(settings), owner)} {
    core_->start();
}

Connection::~Connection() {
    core_->drop();
}

Result<void, Failure> Connection::send(std::string_view command, ReplyHandler handler) {
    return core_->send(command, std::move(handler), false);
}

Result<void, Failure> Connection::subscribe(std::string_view channel, ReplyHandler handler) {
    std::string command;
    CommandWriter writer{command, 2};
    writer.add("SUBSCRIBE");
    writer.add(channel);
    return core_->send(command, std::move(handler), true);
}

void Connection::give_up(std::string what) {
    core_->give_up(std::move(what));
}

bool Connection::ready() const noexcept {
    return core_->ready();
}

const Address& Connection::address() const noexcept {
    return core_->address();
}

Protocol Connection::protocol() const noexcept {
    return core_->protocol();
}

SteadyTime Connection::ready_since() const noexcept {
    return core_->ready_since();
}

Duration Connection::round_trip() const noexcept {
    return core_->round_trip();
}

} // namespace stint::redis
