// What an admission answered, and what it holds.
#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"
#include "limits/permit.hpp"

#include <cstddef>
#include <cstdint>

namespace stint::limits {

class Limit;

// One limit that a request counts against. `quota` comes from the configuration the request began
// with, the count from the limit.
struct Charge {
    Limit* limit = nullptr; // not null; outlives the call and the Permit that it leads to
    Hash128 key{};          // of the client's key; ignored by a limit without a key
    std::uint64_t quota = 0;
};

enum class Refusal : std::uint8_t {
    none,
    window,     // the window's requests are used up
    cap,        // as many are in flight as may be
    table_full, // every key the limit may hold is live, and this one is new
};

struct Decision {
    Refusal refusal = Refusal::none;
    std::size_t refused_by =
        0; // index into the charges: of those that refuse, the one to wait for longest
    Duration retry_after{}; // until that one admits again; for a cap an estimate (see Limit)
    Permit permit;          // holds the caps' slots; empty when refused

    [[nodiscard]] bool allowed() const noexcept { return refusal == Refusal::none; }
};

} // namespace stint::limits
