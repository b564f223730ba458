// Settles a request's charges by its response: corrects their cost, or refunds them.
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

// Settles the charges of one request. Refers to the request's configuration snapshot. Every
// `permit` argument is the request's permit.
class Settlement {
  public:
    // Notes the charges that the response may settle or refund. first: the permit's index of the
    // first of `charges`.
    void expect(const routing::Charges& charges, std::size_t first = 0);
    void forget() noexcept { priced_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return priced_.empty(); }

    // Settles the charges by the response's head: a field tells the cost, and the status tells
    // whether the request counts at all. Without such a field the reserved cost stays.
    void
    settle(const ResponseHead& head, limits::Permit& permit, Callbacks& callbacks, const Now& now);
    // Settles a request that got no response from an upstream. No effect after settle(). status: as
    // in the log, 499 for a client that has left, 502 or 504 for an upstream that failed.
    void settle_end(int status, limits::Permit& permit, const Now& now);

    // Returns the name of the first limit for which the response told a cost above the reserved
    // one; empty: none.
    [[nodiscard]] std::string_view overrun() const noexcept { return overrun_; }

  private:
    void settle_by_status(int status, limits::Permit& permit, const Now& now);

    struct Priced {
        routing::AppliedLimit limit;
        std::size_t index;  // index of the charge in the permit
        std::uint64_t paid; // part of the response's cost that a permit has prepaid
    };
    boost::container::small_vector<Priced, 2> priced_;
    bool settled_ = false; // settle() or settle_end() has been called
    std::string_view overrun_;
};

} // namespace stint::admission
