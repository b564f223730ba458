// The charges of a request to its route's limits, before anything is counted: the keys to charge,
// and the limits that do not apply.
#pragma once

#include "limits/limit.hpp"
#include "routing/key_template.hpp"
#include "routing/route.hpp"

#include <boost/container/static_vector.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace stint::routing {

enum class Denial : std::uint8_t {
    none,
    missing_key, // the limit refuses requests without its key
    listed,      // the client or its key is on the limit's deny list
};

struct Charges {
    // An array with room for the most charges. Only used elements are ever touched.
    template <class T>
    using List = boost::container::static_vector<T, limits::max_charges>;

    List<limits::Charge> charges;
    List<const RouteLimit*> limits;        // limit of each charge
    std::uint32_t exempt = 0;              // bit i: route.limits[i] does not apply to the request
    const RouteLimit* denied_by = nullptr; // the request must not be admitted, nor charged
    Denial denial = Denial::none;

    [[nodiscard]] std::span<const limits::Charge> view() const noexcept {
        return {charges.data(), charges.size()};
    }
};

// An observer of keys while their texts are valid, which is during the call only.
class KeyObserver {
  public:
    // Called before the limit's rules are applied to the key. If it returns false, the limit is
    // skipped.
    virtual bool concerns(const RouteLimit& limit, const Key& key) noexcept = 0;
    // Called when the limit, which has a key, will charge this one, unless another limit denies the
    // request.
    virtual void counts(const RouteLimit& limit, const Key& key) noexcept = 0;

  protected:
    ~KeyObserver() = default;
};

// Computes the charges for limits::admit(). They do not refer to the facts or the scratch.
[[nodiscard]] Charges charges_of(
    const Route& route,
    const KeyFacts& facts,
    std::string& scratch,
    KeyObserver* witness = nullptr);

// Returns the reason why `denied_by` denies, for the client; a sentence without its full stop.
[[nodiscard]] std::string describe(const RouteLimit& denied_by, Denial denial);

} // namespace stint::routing
