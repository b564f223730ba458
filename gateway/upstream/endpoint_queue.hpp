// Requests that wait for a place on an endpoint of their upstream, first come, first served.
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stint::upstream {

// A request that waits for a place. Must leave the queue before its destruction.
class EndpointWaiter : public boost::intrusive::list_base_hook<> {
  public:
    EndpointWaiter() = default;
    EndpointWaiter(const EndpointWaiter&) = delete;
    EndpointWaiter& operator=(const EndpointWaiter&) = delete;

  protected:
    ~EndpointWaiter() = default;

  private:
    friend class EndpointQueue;
    // Tells the waiter, which is the first in the queue, to ask for a place. Called on any thread,
    // under the queue's lock.
    virtual void call() noexcept = 0;
};

// One for each upstream. Does not know which endpoints have a free place. The first waiter is
// called when a place has become free or when it has become the first, and then tries to take a
// place. Threads: any.
class EndpointQueue {
  public:
    // Joins the queue at its end. Returns false if `most` requests wait already.
    [[nodiscard]] bool join(EndpointWaiter& waiter, std::size_t most);
    // Leaves the queue, from any position; without an effect if not in it.
    void leave(EndpointWaiter& waiter) noexcept;
    [[nodiscard]] bool is_first(const EndpointWaiter& waiter) const noexcept;

    // True if any request waits; a new one then joins at the end. No free place is lost: a waiter
    // asks once more after joining, and a request that frees a place checks awaited() afterwards.
    [[nodiscard]] bool awaited() const noexcept { return waiting() > 0; }
    [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_.load(); }
    void notify_free() noexcept;

  private:
    mutable std::mutex mutex_;
    boost::intrusive::list<EndpointWaiter> line_;
    std::atomic<std::uint32_t> waiting_{0};
};

} // namespace stint::upstream
