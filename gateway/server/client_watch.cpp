#include "server/client_watch.hpp"

#include "server/client_input.hpp"

namespace stint::server {

void ClientWatch::watch(ClientInput& input) noexcept {
    watched_.push_back(input);
}

bool ClientWatch::guard(ClientInput& input, int socket, bool or_closed) noexcept {
    if (!ends_.watch(socket, &input, or_closed))
        return false;
    input.Watched::unlink();
    guarded_.push_back(input);
    return true;
}

void ClientWatch::poll() {
    for (auto next = watched_.begin(); next != watched_.end();)
        (next++)->poll_peer_close();
    while (!guarded_.empty()) {
        auto* const ended = static_cast<ClientInput*>(ends_.next());
        if (ended == nullptr)
            break;
        if (ended->Watched::is_linked())
            ended->poll_peer_close();
    }
}

} // namespace stint::server
