#include "proxy/admission/queued_request.hpp"

#include "net/clock.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::proxy {

QueuedRequest::QueuedRequest(WorkerWakeups& wakeups)
    : QueuedCharges{wakeups}, queue_{wakeups.queue()} {}

QueuedRequest::~QueuedRequest() {
    const Now now = net::read_clocks();
    queue_.leave(*this, now);
    for (std::size_t i = 0; i < charges.size(); ++i)
        decision.permit.refund(i, now);
}

WorkerWakeups::WorkerWakeups(limits::AdmissionQueue& queue, net::Executor executor)
    : queue_{queue}, executor_{std::move(executor)} {}

void WorkerWakeups::give_up(QueuedRequest& queued) noexcept {
    queue_.leave(queued, net::read_clocks());
    if (queued.is_over || static_cast<const limits::InMailbox&>(queued).is_linked())
        return;
    over_.push_back(queued);
    post_resume();
}

void WorkerWakeups::resume_decided() noexcept {
    queue_.collect(*this, over_);
    while (!over_.empty()) {
        QueuedRequest& queued = static_cast<QueuedRequest&>(over_.front());
        over_.pop_front();
        queued.is_over = true;
        queued.over.signal();
    }
}

void WorkerWakeups::notify() noexcept {
    post_resume();
}

void WorkerWakeups::post_resume() noexcept {
    try {
        net::asio::post(executor_, [this] { resume_decided(); });
    } catch (const std::exception&) {
        // Out of memory: the next tick resumes them.
    }
}

} // namespace stint::proxy
