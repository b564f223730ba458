#include "server/client_watch.hpp"

#include "server/http1_connection.hpp"

namespace stint::server {

void ClientWatch::watch(Http1Connection& connection) noexcept {
    watched_.push_back(connection);
}

bool ClientWatch::guard(Http1Connection& connection, bool or_closed) noexcept {
    if (!ends_.watch(connection.io().socket().native_handle(), &connection, or_closed))
        return false;
    connection.Watched::unlink();
    guarded_.push_back(connection);
    return true;
}

void ClientWatch::poll() {
    for (auto next = watched_.begin(); next != watched_.end();)
        (next++)->poll_peer_close();
    while (!guarded_.empty()) {
        auto* const ended = static_cast<Http1Connection*>(ends_.next());
        if (ended == nullptr)
            break;
        if (ended->Watched::is_linked())
            ended->poll_peer_close();
    }
}

} // namespace stint::server
