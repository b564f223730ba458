// Requests that wait for a place on an endpoint of their upstream, first come, first served.
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stint::upstream {

// Who waits. Leaves the queue before it ends.
class EndpointWaiter : public boost::intrusive::list_base_hook<> {
  public:
    EndpointWaiter() = default;
    EndpointWaiter(const EndpointWaiter&) = delete;
    EndpointWaiter& operator=(const EndpointWaiter&) = delete;

  protected:
    ~EndpointWaiter() = default;

  private:
    friend class EndpointQueue;
    // It may be its turn: it is to ask for a place. Any thread, under the queue's lock.
    virtual void call() noexcept = 0;
};

// One for each upstream. Knows no places: only the first in line asks for one, and is called when
// one has become free or when it has become the first. Threads: any.
class EndpointQueue {
  public:
    // At the end of the line. False: `most` wait already.
    [[nodiscard]] bool join(EndpointWaiter& waiter, std::size_t most);
    // Out of it, wherever it stands; without an effect if it stands in none.
    void leave(EndpointWaiter& waiter) noexcept;
    [[nodiscard]] bool is_first(const EndpointWaiter& waiter) const noexcept;

    // Whoever comes while somebody waits goes to the end of the line. No free place is lost: who
    // joins asks once more afterwards, and who gives one back looks here afterwards.
    [[nodiscard]] bool awaited() const noexcept { return waiting() > 0; }
    [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_.load(); }
    void notify_free() noexcept;

  private:
    mutable std::mutex mutex_;
    boost::intrusive::list<EndpointWaiter> line_;
    std::atomic<std::uint32_t> waiting_{0};
};

} // namespace stint::upstream
