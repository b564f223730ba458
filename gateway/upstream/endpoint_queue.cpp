#include "upstream/endpoint_queue.hpp"

namespace stint::upstream {

bool EndpointQueue::join(EndpointWaiter& waiter, std::size_t most) {
    const std::lock_guard lock{mutex_};
    if (line_.size() >= most)
        return false;
    line_.push_back(waiter);
    ++waiting_;
    return true;
}

void EndpointQueue::leave(EndpointWaiter& waiter) noexcept {
    const std::lock_guard lock{mutex_};
    if (!waiter.is_linked())
        return;
    const bool was_first = &line_.front() == &waiter;
    line_.erase(line_.iterator_to(waiter));
    --waiting_;
    if (was_first && !line_.empty())
        line_.front().call(); // another slot may be free
}

bool EndpointQueue::is_first(const EndpointWaiter& waiter) const noexcept {
    const std::lock_guard lock{mutex_};
    return !line_.empty() && &line_.front() == &waiter;
}

void EndpointQueue::notify_free() noexcept {
    const std::lock_guard lock{mutex_};
    if (!line_.empty())
        line_.front().call();
}

} // namespace stint::upstream
