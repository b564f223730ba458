// Keeps the admin listener's connections few and their waits short: hostile clients can at most
// make each other reconnect.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace stint::admin {

// A connection as seen from here. Off the list once it is closed or destroyed.
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

    SteadyTime since_{}; // what it does now: waiting for a request, or answering one
};

// Not thread-safe. In the order in which they came.
class Connections {
  public:
    Connections(std::size_t most, Duration longest) : most_{most}, longest_{longest} {}

    // Takes a connection in that is not in yet, and gives it its time anew. When there are too
    // many, the first to come is closed: whoever clings to a connection loses it to those who ask
    // and go, and no bustle on it helps.
    void begin(Bounded& connection, SteadyTime now);

    // Closes those that have done the same for too long.
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
