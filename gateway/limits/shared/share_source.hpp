// The interface to a store that divides a limit among gateways: asks for a larger share.
#pragma once

#include "base/hash.hpp"
#include "limits/decision.hpp"
#include "limits/limit.hpp"

#include <cstdint>
#include <string_view>

namespace stint::limits {

class ShareRequests;

// A key's share that is too small for a request.
struct ShareWanted {
    LimitPtr limit;
    Hash128 key{};             // within the limit; ignored by a limit without a key
    std::string_view key_text; // the key, valid during the call; empty for a limit without a key
    Numbers numbers{};         // the limit's undivided numbers for this key
    bool pace = false;         // as Charge::pace
    std::uint64_t cost = 1;    // the request's
};

enum class ShareAnswer : std::uint8_t {
    told,  // the store has answered: the share may have grown
    failed // the store did not answer
};

// A store of shares. Without being asked, it sets the keys' shares (Limit::set_share()), the end of
// all shares, and whether it can be asked (Limit::share_policy()).
class ShareSource {
  public:
    virtual ~ShareSource() = default;

    // Asks for a larger share. Each call is answered once, by answer_to.answer(number), at any time
    // after this call has returned. Any thread.
    virtual void
    want(const ShareWanted& wanted, std::uint64_t number, ShareRequests& answer_to) noexcept = 0;
};

} // namespace stint::limits
