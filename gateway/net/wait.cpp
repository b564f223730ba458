#include "net/wait.hpp"

#include "net/handler_memory.hpp"
#include "net/io.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <mutex>
#include <utility>

namespace stint::net {

// Waits of one event loop that were woken from any thread and have yet to end. As a service of the
// loop's context, the queue ends after all objects that the context's end destroys.
class WakeQueue final : public asio::execution_context::service {
  public:
    using key_type = WakeQueue; // the type by which asio::use_service() finds the service
    static inline asio::execution_context::id id;

    explicit WakeQueue(asio::execution_context& context)
        : service{context}, executor_{static_cast<asio::io_context&>(context).get_executor()} {}

    void push(Wait& wait) noexcept {
        {
            const std::lock_guard lock{mutex_};
            if (!wait.is_linked())
                woken_.push_back(wait);
            if (std::exchange(posted_, true))
                return;
        }
        asio::post(executor_, in_place(memory_, [this] { deliver(); })); // one at a time: posted_
    }

    void remove(Wait& wait) noexcept {
        const std::lock_guard lock{mutex_};
        if (wait.is_linked())
            woken_.erase(woken_.iterator_to(wait));
    }

  private:
    void shutdown() override {}

    void deliver() noexcept {
        const std::lock_guard lock{mutex_};
        posted_ = false;
        while (!woken_.empty()) {
            Wait& wait = woken_.front();
            woken_.pop_front();
            wait.woken_ = true;
            wait.interrupt();
        }
    }

    Executor executor_;
    std::mutex mutex_;
    boost::intrusive::list<Wait, boost::intrusive::constant_time_size<false>> woken_;
    bool posted_ = false;
    HandlerMemory memory_; // memory of the posted deliver(), guarded by posted_
};

Wait::Wait(const Executor& executor)
    : queue_{asio::use_service<WakeQueue>(executor.context())}, timer_{executor} {}

Wait::~Wait() {
    queue_.remove(*this);
}

void Wait::wake() noexcept {
    queue_.push(*this);
}

void Wait::cancel() noexcept {
    cancelled_ = true;
    interrupt();
}

// Ends the timer's wait with a later turn of the loop.
void Wait::interrupt() noexcept {
    try {
        timer_.cancel();
    } catch (const std::exception&) {
        // Asio declares an error that a timer's cancel() never has.
    }
}

Task<Wait::End> Wait::until(SteadyTime deadline) {
    if (!woken_ && !cancelled_) {
        timer_.expires_at(deadline);
        co_await timer_.async_wait(as_result);
    }
    if (cancelled_)
        co_return End::cancelled;
    co_return std::exchange(woken_, false) ? End::woken : End::timed_out;
}

} // namespace stint::net
