// Settles a request's charges by its answer: the cost it has had, and refunds.
#pragma once

#include "admission/callbacks.hpp"
#include "base/message.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"
#include "routing/charges.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stint::admission {

// Refers to the exchange's configuration. Permits and statuses belong to the exchange, too.
class Settlement {
  public:
    // Notes the charges that may yet be refunded. first: the permit's index of the first one.
    void expect(const routing::Charges& charges, std::size_t first = 0);
    void forget() noexcept { priced_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return priced_.empty(); }

    // Settles the charges by the answer's head, which tells their cost and whether the request
    // counts at all. An answer that does not tell its cost has cost what was reserved.
    void
    settle(const ResponseHead& head, limits::Permit& permit, Callbacks& callbacks, const Now& now);
    // Settles a request that no upstream has answered, unless settle() was called. status: as in
    // the log, 499 for a client that has left, 502 or 504 for an upstream that failed.
    void settle_end(int status, limits::Permit& permit, const Now& now);

    // Returns the first limit whose reserve the request's cost exceeded; empty: none.
    [[nodiscard]] std::string_view overrun() const noexcept { return overrun_; }

  private:
    void settle_by_status(int status, limits::Permit& permit, const Now& now);

    struct Priced {
        const routing::RouteLimit* limit;
        std::size_t index;  // its charge's index
        std::uint64_t paid; // prepaid part of the cost that the answer tells
    };
    boost::container::small_vector<Priced, 2> priced_;
    bool settled_ = false; // by the answer's head
    std::string_view overrun_;
};

} // namespace stint::admission
