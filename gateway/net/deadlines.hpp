// Timeouts for thousands of connections with one timer per worker: a list for each distinct length,
// which sorts itself because equal lengths expire in the order in which they were armed.
#pragma once

#include "base/time.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <vector>

namespace stint::net {

// Base of a timeout: a class derives from it, or holds an object of a derived class. Destroying or
// disarming a deadline takes it off its list.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  public:
    Deadline() = default;
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

    void disarm() noexcept { unlink(); }
    [[nodiscard]] bool armed() const noexcept { return is_linked(); }

  protected:
    ~Deadline() = default;

  private:
    friend class Deadlines;
    // Called by Deadlines::expire() when the deadline is due; it is disarmed by then. May arm the
    // deadline again.
    virtual void on_deadline() noexcept = 0;

    SteadyTime at_{};
};

// A deadline that calls a function of its owner, for owners that have several.
template <class Owner, void (Owner::*expired)() noexcept>
class DeadlineOf final : public Deadline {
  public:
    explicit DeadlineOf(Owner& owner) noexcept : owner_{owner} {}

  private:
    void on_deadline() noexcept override { (owner_.*expired)(); }

    Owner& owner_;
};

// One per worker, not thread-safe. Reads no clock: its owner calls expire() at least every 50 ms
// while anything is armed, so a deadline is noticed at most that much late. A deadline that is
// armed with the coarse clock may come one tick of that clock early.
class Deadlines {
  public:
    // Arms the deadline, or arms it again, for now + length. Takes O(distinct lengths). Allocates
    // only for a length that has no list: a new one, or one whose list expire() has removed.
    void arm(Deadline& deadline, Duration length, SteadyTime now);

    // Calls on_deadline() of every deadline that is due, once each: a deadline that arms itself
    // again waits for the next call.
    void expire(SteadyTime now);

    [[nodiscard]] bool empty() const noexcept;

  private:
    using List = boost::intrusive::list<Deadline, boost::intrusive::constant_time_size<false>>;
    struct Lane {
        Duration length;
        std::unique_ptr<List> list; // at a stable address: lanes_ may grow
    };

    std::vector<Lane> lanes_;
};

} // namespace stint::net
