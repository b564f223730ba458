// Told of what the requests of this process give back, while another process counts for them.
#pragma once

#include "base/hash.hpp"
#include "limits/permit.hpp"

#include <cstdint>

namespace stint::limits {

class Limit;

// See Permit::report_returns_to().
class ReturnListener {
  public:
    // Slots of a cap were freed, or a part of a window's charge was given back, or is about to be.
    // receipt: that of the charge. Called on any thread, with no shard locked.
    virtual void given_back(
        const Limit& limit, Hash128 key, const Receipt& receipt, std::uint64_t cost) noexcept = 0;

  protected:
    ~ReturnListener() = default;
};

} // namespace stint::limits
