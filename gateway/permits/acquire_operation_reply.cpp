// The reply to a request for permits.
#include "base/hash.hpp"
#include "http/permit_text.hpp"
#include "http/reply_writer.hpp"
#include "permits/acquire_operation.hpp"
#include "permits/milliseconds.hpp"

#include <algorithm>
#include <chrono>

namespace stint::permits {
namespace {

// Writes the members of one limit's state, without braces. A batch is handed out until the window
// ends, and not a moment longer: its reset is rounded down.
template <class Out>
void write_state(Out& out, const Grant::Limit& limit, SteadyTime now, bool batch) {
    const Duration reset = limit.more_at > now ? limit.more_at - now : Duration::zero();
    out << R"("limit":)" << limit.quota << R"(,"remaining":)" << limit.remaining
        << R"(,"reset_ms":)" << (batch ? milliseconds_down(reset) : milliseconds_up(reset));
}

} // namespace

template <class Out>
void AcquireOperation::write_grant(Out& out) const {
    out << R"({"granted":true,)";
    if (!listed_) {
        write_state(out, grant_.limits.front(), now_.steady, batch_ > 0);
        out << ",";
    }
    out << R"("waited_ms":)" << milliseconds_down(grant_.waited);
    if (batch_ > 0)
        out << R"(,"count":)" << grant_.count;
    if (listed_) {
        out << R"(,"limits":[)";
        for (std::size_t i = 0; i < grant_.limits.size(); ++i) {
            out << (i == 0 ? R"({"name":")" : R"(,{"name":")");
            http::write_json_text(out, parts_[i].limit->limit->identity().name);
            out << R"(",)";
            write_state(out, grant_.limits[i], now_.steady, batch_ > 0);
            out << "}";
        }
        out << "]";
    }
    if (grant_.permit != Hash128{})
        out << R"(,"permit":")" << http::permit_text(grant_.permit) << R"(")";
    if (replayed_)
        out << R"(,"replayed":true)";
    out << "}\n";
}

void AcquireOperation::respond(http::Response& to) {
    if (status_ == 200)
        http::make_reply(
            to, {}, status_, "application/json", [](http::HeadBuffer&) {},
            [this](auto& sink) { write_grant(sink); });
    else if (paused_ > Duration::zero())
        http::make_paused(
            to, {},
            {.upstream = {},
             .limit = paused_limit_->identity().name,
             .status = status_,
             .retry_after = paused_});
    else
        reply_.make(to, {}, status_);
}

} // namespace stint::permits
