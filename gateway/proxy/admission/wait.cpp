// Waits of a request, without touching the upstream: in the admission queue, for a pause to end, or
// for a place on an endpoint.
#include "net/clock.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

// Waits until nothing is left to wait for. True: the request has been sent. False: it is to be sent
// slowly, or next_ says that it is refused.
net::Task<bool> Exchange::wait_to_send() {
    bool sent = false;
    while (next_ != Next::forward && next_ != Next::reply) {
        if (next_ == Next::wait_endpoint) {
            const Next next = co_await wait_for_endpoint();
            next_ = next;
        } else if (next_ == Next::wait_cooldown) {
            const Next next = co_await wait_out_pause();
            next_ = next;
        } else {
            const Next next = co_await wait_for_turn();
            next_ = next;
        }
        if (next_ == Next::forward)
            sent = send_at_once();
    }
    co_return sent;
}

// Notes the end of a wait that began with the last decision, or later. Returns its length.
Duration Exchange::note_wait() {
    const SteadyTime now = net::read_steady_clock();
    const Duration waited = admission_.resume({now, wall_at(now)});
    waited_ += waited;
    return waited;
}

// Waits in the admission queue. Watches the client meanwhile, but does not read its body. Always
// ends: with the decision, or when the exchange is aborted.
net::Task<Exchange::Next> Exchange::wait_for_turn() {
    stream_.watch();
    while (!callbacks_.queued()->is_over)
        co_await callbacks_.queued()->over.wait();
    stream_.poll_peer_close();
    co_return finish_wait();
}

Exchange::Next Exchange::finish_wait() {
    const Duration waited = note_wait();
    if (abort_reason_ != AbortReason::no) {
        callbacks_.drop_queued(); // refunds its permit
        return Next::reply;
    }
    const Next next = next_of(admission_.finish_queue(*callbacks_.queued(), waited));
    callbacks_.drop_queued();
    if (next == Next::forward)
        write_request_head(stream_.head());
    return next;
}

} // namespace stint::proxy
