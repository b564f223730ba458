// The limits that a request for permits names, and the charges on them.
#pragma once

#include "admission/local_reply.hpp"
#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/limit.hpp"
#include "permits/acquire_request.hpp"
#include "permits/shared.hpp"
#include "proxy/context.hpp"
#include "routing/charges.hpp"
#include "routing/client_address.hpp"

#include <boost/container/static_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

namespace stint::permits {

[[nodiscard]] inline bool is_fixed_window(const limits::Limit& limit) noexcept {
    return limit.identity().algorithm == limits::Algorithm::fixed_window;
}

class AcquireLimits {
  public:
    // One limit of the request; parts are in the request's order.
    struct Part {
        routing::AppliedLimit limit;
        DynamicLimitPtr brought; // owns `limit` if a client brought it
        Hash128 key{};
        std::uint64_t cost = 0;
        limits::Numbers numbers{};
        bool exempt = false;
    };
    template <class T>
    using List = boost::container::static_vector<T, limits::max_charges>;

    // reply: receives the error if the request cannot be met. All arguments outlive this object.
    AcquireLimits(
        proxy::Context& context,
        proxy::ActiveConfig& config,
        Shared& shared,
        const routing::ClientAddress& peer,
        admission::LocalReply& reply) noexcept
        : context_{context}, config_{config}, shared_{shared}, peer_{peer}, reply_{reply} {}

    // Finds the limits and their keys, and lists the charges. Returns 200, or the status of the
    // reply. Does not keep references into `ask`.
    [[nodiscard]] int find(const AcquireRequest& ask, SteadyTime now);

    [[nodiscard]] const List<Part>& parts() const noexcept { return parts_; }
    // Returns the charges of the parts with a cost and no exemption, in rising order of
    // Limit::ordinal(), as limits::admit() requires.
    [[nodiscard]] routing::Charges& charges() noexcept { return charges_; }
    [[nodiscard]] const routing::Charges& charges() const noexcept { return charges_; }
    // Maps the index of a charge to the index of its part.
    [[nodiscard]] const List<std::uint8_t>& part_of() const noexcept { return part_of_; }
    // Sets charge i's numbers, which a reload may have changed while the request waited.
    void renumber(std::size_t i, const limits::Numbers& numbers) noexcept;

  private:
    bool find_limit(const Wanted& wanted, Part& part, SteadyTime now);
    bool find_key(const Wanted& wanted, Part& part, SteadyTime now);
    bool obey_rules(std::string_view text, Part& part);
    bool list_charges();
    bool fail(int status, std::initializer_list<std::string_view> detail);

    proxy::Context& context_;
    proxy::ActiveConfig& config_;
    Shared& shared_;
    const routing::ClientAddress& peer_;
    admission::LocalReply& reply_;
    int status_ = 200;
    List<Part> parts_;
    routing::Charges charges_;
    List<std::uint8_t> part_of_;
};

} // namespace stint::permits
