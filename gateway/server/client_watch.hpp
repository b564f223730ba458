// Notices clients that go while nothing is read from their connections.
#pragma once

#include "net/end_events.hpp"

#include <boost/intrusive/list.hpp>

namespace stint::server {

class ClientInput;

// An input's place on one of the lists below.
using Watched = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct WatchedTag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// One for each event loop, not thread-safe. An input is watched until it unlinks itself.
class ClientWatch {
  public:
    // Polls the input with every poll(). Requires: it is on no list.
    void watch(ClientInput& input) noexcept;
    // Polls a watched input only when the kernel reports the end of its socket. or_closed: the
    // client's closing of its sending side counts as the end. Returns false, and leaves the input
    // watched, if there is no descriptor or no memory.
    [[nodiscard]] bool guard(ClientInput& input, int socket, bool or_closed) noexcept;
    // Ends what guard() has begun for a socket that another process goes on with.
    void forget(int socket) noexcept { ends_.forget(socket); }
    // Calls poll_peer_close() of the watched inputs, and of the guarded ones whose socket has
    // ended.
    void poll();

    [[nodiscard]] bool watches_none() const noexcept { return watched_.empty(); }
    [[nodiscard]] bool guards_none() const noexcept { return guarded_.empty(); }

  private:
    using List = boost::intrusive::list<
        ClientInput,
        boost::intrusive::base_hook<Watched>,
        boost::intrusive::constant_time_size<false>>;
    List watched_; // inputs without a pending read that would report the close
    List guarded_; // inputs of stalled connections: `ends_` reports the close
    net::EndEvents ends_;
};

} // namespace stint::server
