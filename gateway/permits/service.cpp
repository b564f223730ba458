#include "permits/service.hpp"

#include "net/io.hpp"
#include "permits/connection.hpp"

#include <memory>
#include <utility>

namespace stint::permits {

void Service::serve(server::ConnectionSlot slot, net::Socket socket, const net::Endpoint& peer) {
    auto connection = std::make_unique<Connection>(*this, std::move(slot), std::move(socket), peer);
    connections_.push_back(*connection);
    net::spawn(context.executor, Connection::serve(std::move(connection)));
}

void Service::drain() noexcept {
    for (auto next = connections_.begin(); next != connections_.end();)
        (next++)->drain();
}

void Service::abort() noexcept {
    for (auto next = connections_.begin(); next != connections_.end();)
        (next++)->abort();
}

} // namespace stint::permits
