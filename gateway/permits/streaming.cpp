// A streamed response: goes on for as long as what it reports.
#include "permits/connection.hpp"

namespace stint::permits {

net::Task<> Connection::stream() {
    streaming_ = true;
    begin_ = end_ = scanned_ = 0;
    for (bool more = true; more;) {
        watch();
        arm(Phase::streaming);
        while (watching_)
            co_await watched_.wait();
        disarm();
        if (gone_ || service_.context.draining)
            co_return;
        service_.context.head_out.clear();
        more = pending_->write_more(service_.context.head_out);
        const Sent sent = co_await flush();
        if (sent == Sent::failed)
            co_return;
    }
    streaming_ = false;
    co_await close_gently();
}

} // namespace stint::permits
