// The charges of a request on its route's limits, before anything is counted: the keys to charge,
// and the limits that do not apply.
#pragma once

#include "limits/limit.hpp"
#include "routing/key_template.hpp"
#include "routing/route.hpp"

#include <boost/container/static_vector.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stint::routing {

enum class Denial : std::uint8_t {
    none,
    missing_key, // the limit refuses requests without its key
    listed,      // the client or its key is on the limit's deny list
};

struct Charges {
    // A list of at most limits::max_charges elements, stored in the object itself. Unused elements
    // are not initialised.
    template <class T>
    using List = boost::container::static_vector<T, limits::max_charges>;

    List<limits::Charge> charges;
    List<AppliedLimit> limits; // the limit of each charge, by the same index
    std::uint32_t exempt = 0;  // bit i: route.limits[i] does not apply to the request
    AppliedLimit denied_by{};  // the limit that denies the request, which must not be admitted or
                               // charged; without terms: none
    Denial denial = Denial::none;

    [[nodiscard]] std::span<const limits::Charge> view() const noexcept {
        return {charges.data(), charges.size()};
    }
};

// An observer of the keys that a request is counted by. Key texts are valid during the call only.
class KeyObserver {
  public:
    // Called before the limit's rules (exempt, deny, overrides) are applied to the key. If it
    // returns false, the limit is skipped.
    virtual bool concerns(AppliedLimit limit, const Key& key) noexcept = 0;
    // Called for a limit with a key, when the limit will charge this key unless another limit
    // denies the request.
    virtual void counts(AppliedLimit limit, const Key& key) noexcept = 0;

  protected:
    ~KeyObserver() = default;
};

// Computes the charges for limits::admit(). The result does not refer to `facts` or `scratch`.
// terms: Snapshot::limits of the route's snapshot. witness: is called for each key; may be nullptr.
[[nodiscard]] Charges charges_of(
    const Route& route,
    const std::vector<LimitTermsPtr>& terms,
    const KeyFacts& facts,
    std::string& scratch,
    KeyObserver* witness = nullptr);

// Returns the reason of the denial, for the client: a sentence without its full stop.
[[nodiscard]] std::string describe(const LimitTerms& denied_by, Denial denial);

} // namespace stint::routing
