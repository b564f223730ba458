// Requests that wait for a free slot on an endpoint of their upstream, first come, first served. An
// endpoint with max_requests has that many slots, one for each request in flight.
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stint::upstream {

// A request that waits for a slot. Must leave the queue before its destruction.
class EndpointWaiter : public boost::intrusive::list_base_hook<> {
  public:
    EndpointWaiter() = default;
    EndpointWaiter(const EndpointWaiter&) = delete;
    EndpointWaiter& operator=(const EndpointWaiter&) = delete;

  protected:
    ~EndpointWaiter() = default;

  private:
    friend class EndpointQueue;
    // Notifies the waiter that it is the first in the queue and that a slot may be free, so it
    // should try to take one. Called on any thread, under the queue's lock.
    virtual void call() noexcept = 0;
};

// One for each upstream. Does not know which endpoints have a free slot: it calls the first waiter
// when a slot has become free, or when that waiter has become the first. The waiter then tries to
// take a slot. Threads: any.
class EndpointQueue {
  public:
    // Joins the queue at its end. Returns false if `most` requests wait already.
    [[nodiscard]] bool join(EndpointWaiter& waiter, std::size_t most);
    // Removes the waiter from any position. Has no effect if the waiter is not in the queue.
    void leave(EndpointWaiter& waiter) noexcept;
    [[nodiscard]] bool is_first(const EndpointWaiter& waiter) const noexcept;

    // True if any request waits; a new request must then join the queue, too. No free slot goes
    // unused: a waiter tries to take one again after it has joined, and a request that frees a slot
    // then checks awaited().
    [[nodiscard]] bool awaited() const noexcept { return waiting() > 0; }
    [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_.load(); }
    // Calls the first waiter, if any, after a slot has become free.
    void notify_free() noexcept;

  private:
    mutable std::mutex mutex_;
    boost::intrusive::list<EndpointWaiter> line_;
    std::atomic<std::uint32_t> waiting_{0};
};

} // namespace stint::upstream
