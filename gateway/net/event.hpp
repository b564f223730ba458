// Lets a callback resume the one coroutine that waits for it.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace stint::net {

// Not thread-safe: both sides run on the same worker. The owner of an Event signals it before the
// Event is destroyed; otherwise the waiting coroutine is destroyed without being resumed.
class Event {
  public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() {
        if (has_waiter())
            run_or_destroy_(waiter_, Action::destroy);
    }

    // Resumes the waiting coroutine within this call; does nothing if none waits. The coroutine may
    // destroy this Event and its owner: the caller touches neither afterwards.
    void signal() {
        if (has_waiter())
            std::exchange(run_or_destroy_, nullptr)(waiter_, Action::run);
    }

    [[nodiscard]] bool has_waiter() const noexcept { return run_or_destroy_ != nullptr; }

    // co_await event.wait(): suspends until the next signal(). At most one waiter.
    auto wait() {
        return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
            [this](auto&& handler) { set(std::forward<decltype(handler)>(handler)); },
            boost::asio::deferred);
    }

  private:
    enum class Action { run, destroy };

    // Stores the handler of the suspended coroutine in place, without allocation: it is a pointer
    // or two. (Asio 1.26's any_completion_handler allocates, and its assignment recurses without
    // end.)
    template <class Handler>
    void set(Handler&& handler) {
        using Stored = std::decay_t<Handler>;
        static_assert(sizeof(Stored) <= sizeof waiter_ && alignof(Stored) <= alignof(void*));
        new (waiter_) Stored(std::forward<Handler>(handler));
        run_or_destroy_ = [](std::byte* memory, Action action) {
            Stored* stored = std::launder(reinterpret_cast<Stored*>(memory));
            Stored taken{std::move(*stored)};
            stored->~Stored();
            if (action == Action::run)
                std::move(taken)();
        };
    }

    alignas(void*) std::byte waiter_[4 * sizeof(void*)];
    void (*run_or_destroy_)(std::byte*, Action) = nullptr;
};

} // namespace stint::net
