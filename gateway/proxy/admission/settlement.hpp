// What a request's answer makes of its charges: what it has cost, and what is given back.
#pragma once

#include "base/message.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"
#include "observe/metrics.hpp"
#include "routing/charges.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::proxy {

// Refers to the exchange's configuration. Permits and statuses are the exchange's own, too.
class Settlement {
  public:
    // Notes those charges that may yet be given back.
    void expect(const routing::Charges& charges);
    void forget() noexcept { priced_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return priced_.empty(); }

    // With the answer's head its cost is known, and whether it counts at all. An answer that does
    // not tell its cost has cost what was reserved.
    void settle(
        const ResponseHead& head,
        limits::Permit& permit,
        observe::WorkerCounters& counters,
        const Now& now);
    // A request that no upstream has answered, unless that was settled, ends with the status that
    // the log shows: 499 for a client that has left, 502 or 504 for an upstream that failed.
    void settle_end(int status, limits::Permit& permit, const Now& now);

    // The first limit that the request cost more than its reserve; empty: none.
    [[nodiscard]] std::string_view overrun() const noexcept { return overrun_; }

  private:
    void settle_by_status(int status, limits::Permit& permit, const Now& now);

    struct Priced {
        const routing::RouteLimit* limit;
        std::size_t index;  // of its charge
        std::uint64_t paid; // of the cost that the answer tells, before the request came
    };
    boost::container::small_vector<Priced, 2> priced_;
    bool settled_ = false; // by the answer's head
    std::string_view overrun_;
};

} // namespace stint::proxy
