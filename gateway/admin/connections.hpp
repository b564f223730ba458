// Keeps the admin listener's connections few and their waits short: hostile clients can at most
// make each other reconnect.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace stint::admin {

// A connection as Connections sees it. Off the list once it is closed or destroyed.
class Bounded : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  public:
    Bounded() = default;
    Bounded(const Bounded&) = delete;
    Bounded& operator=(const Bounded&) = delete;

  protected:
    ~Bounded() = default;

  private:
    friend class Connections;
    virtual void close() noexcept = 0;

    SteadyTime since_{}; // start of its present step: waiting for a request, or answering one
};

// The open connections, oldest first. Not thread-safe.
class Connections {
  public:
    Connections(std::size_t most, Duration longest) : most_{most}, longest_{longest} {}

    // Adds a connection that is not in the list yet, and restarts its time. When there are too
    // many, closes the oldest: a client that clings to a connection loses it to clients that ask
    // and leave, and no activity on it helps.
    void begin(Bounded& connection, SteadyTime now);

    // Closes connections whose present step has taken too long.
    void expire(SteadyTime now);

    void close_all();
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }

  private:
    static void close(Bounded& connection);

    boost::intrusive::list<Bounded, boost::intrusive::constant_time_size<false>> list_;
    std::size_t most_;
    Duration longest_;
};

} // namespace stint::admin
