// What a route's limits make of a request before anything is counted: whom each charges, and who
// has nothing to say.
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
    // Room for all, of which only what is used is ever touched.
    template <class T>
    using List = boost::container::static_vector<T, limits::max_charges>;

    List<limits::Charge> charges;
    List<const RouteLimit*> limits;        // of each charge
    std::uint32_t exempt = 0;              // bit i: route.limits[i] does not concern the request
    const RouteLimit* denied_by = nullptr; // the request must not be admitted, nor charged
    Denial denial = Denial::none;

    [[nodiscard]] std::span<const limits::Charge> view() const noexcept {
        return {charges.data(), charges.size()};
    }
};

// Who wants to know the keys while they are at hand: their texts do not outlast the call.
class KeyObserver {
  public:
    // Before the limit is asked what it makes of the key. False: it is left out.
    virtual bool concerns(const RouteLimit& limit, const Key& key) noexcept = 0;
    // The limit, which has a key, will charge this one, unless another limit denies the request.
    virtual void counts(const RouteLimit& limit, const Key& key) noexcept = 0;

  protected:
    ~KeyObserver() = default;
};

// Charges as limits::admit() takes them. They do not refer to the facts or the scratch.
[[nodiscard]] Charges charges_of(
    const Route& route,
    const KeyFacts& facts,
    std::string& scratch,
    KeyObserver* witness = nullptr);

// Why `denied_by` denies, for the client; a sentence without its end.
[[nodiscard]] std::string describe(const RouteLimit& denied_by, Denial denial);

} // namespace stint::routing
