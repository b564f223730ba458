// Notices clients that go while nothing is read from their connections.
#pragma once

#include "net/end_events.hpp"

#include <boost/intrusive/list.hpp>

namespace stint::server {

class Http1Connection;

// A connection's place on one of the lists below.
using Watched = boost::intrusive::list_base_hook<
    boost::intrusive::tag<struct WatchedTag>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// One for each event loop, not thread-safe. A connection is watched until it unlinks itself.
class ClientWatch {
  public:
    // Polls the connection with every poll(). Requires: it is on no list.
    void watch(Http1Connection& connection) noexcept;
    // Polls a watched connection no longer, but when the kernel reports its end. or_closed: also
    // that its client has closed its sending side. False: no descriptor, or no memory.
    [[nodiscard]] bool guard(Http1Connection& connection, bool or_closed) noexcept;
    // Calls poll_peer_close() of the connections that are watched, and of guarded ones that ended.
    void poll();

    [[nodiscard]] bool watches_none() const noexcept { return watched_.empty(); }
    [[nodiscard]] bool guards_none() const noexcept { return guarded_.empty(); }

  private:
    using List = boost::intrusive::list<
        Http1Connection,
        boost::intrusive::base_hook<Watched>,
        boost::intrusive::constant_time_size<false>>;
    List watched_; // connections whose close no pending read would report
    List guarded_; // stalled ones of these, whose close `ends_` reports
    net::EndEvents ends_;
};

} // namespace stint::server
