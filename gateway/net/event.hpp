// A one-shot meeting point between a callback and the one coroutine that waits for it.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <utility>

namespace stint::net {

// Not thread-safe: both sides run on the same worker. Whoever owns an Event signals it before it is
// destroyed, otherwise the waiting coroutine would never end.
class Event {
  public:
    // Resumes the waiting coroutine before it returns; without one, nothing happens. The caller must
    // not touch itself afterwards if the coroutine may end it.
    void signal() {
        if (waiter_)
            std::exchange(waiter_, nullptr)();
    }

    [[nodiscard]] bool has_waiter() const noexcept { return static_cast<bool>(waiter_); }

    // co_await event.wait(): suspends until the next signal(). At most one waiter.
    auto wait() {
        return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
            [this](auto&& handler) { waiter_ = std::forward<decltype(handler)>(handler); },
            boost::asio::deferred);
    }

  private:
    boost::asio::any_completion_handler<void()> waiter_;
};

} // namespace stint::net
