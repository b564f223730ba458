#include "proxy/admission/queued_request.hpp"

#include "net/clock.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace stint::proxy {

QueuedRequest::QueuedRequest(WorkerWakeups& wakeups, server::WaitSlots* slots, SteadyTime since)
    : QueuedCharges{wakeups}, queue_{wakeups.queue()}, wait_{wakeups.executor()}, slot_{slots} {
    may_wait = slot_.take();
    waiting_since = since;
}

QueuedRequest::~QueuedRequest() {
    const Now now = net::read_clocks();
    queue_.leave(*this, now);
    for (std::size_t i = 0; i < charges.size(); ++i)
        decision.permit.refund(i, now);
}

net::Task<> QueuedRequest::wait() {
    while (!is_over_)
        co_await wait_.until_woken();
}

void QueuedRequest::end() noexcept {
    is_over_ = true;
    slot_.free();
    wait_.wake();
}

WorkerWakeups::WorkerWakeups(limits::AdmissionQueue& queue, net::Executor executor)
    : queue_{queue}, executor_{std::move(executor)} {}

void WorkerWakeups::give_up(QueuedRequest& queued) noexcept {
    queue_.leave(queued, net::read_clocks());
    const bool is_decided = static_cast<const limits::InMailbox&>(queued).is_linked();
    if (!queued.is_over_ && !is_decided) // else resume_decided() resumes it
        queued.end();
}

void WorkerWakeups::resume_decided() noexcept {
    limits::Waiters decided;
    queue_.collect(*this, decided);
    while (!decided.empty()) {
        QueuedRequest& queued = static_cast<QueuedRequest&>(decided.front());
        decided.pop_front();
        queued.end();
    }
}

void WorkerWakeups::notify() noexcept {
    post_resume();
}

void WorkerWakeups::post_resume() noexcept {
    try {
        net::asio::post(executor_, [this] { resume_decided(); });
    } catch (const std::exception&) {
        // Out of memory: the next tick resumes the decided requests.
    }
}

} // namespace stint::proxy
