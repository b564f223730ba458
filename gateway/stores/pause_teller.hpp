// The store's part in cool-downs that gateways share: tells the other gateways of pauses, and
// learns of theirs. No I/O, no clock.
#pragma once

#include "base/time.hpp"
#include "shared/call.hpp"
#include "shared/session.hpp"
#include "stores/shared_pauses.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::stores {

// Not thread-safe; thread: the store's.
class PauseTeller {
  public:
    // key: of the pauses in the store. Both others outlive this object.
    PauseTeller(std::string key, SharedPauses& pauses, shared::Transport& transport)
        : key_{std::move(key)}, pauses_{pauses}, transport_{transport} {}

    // Makes the next call read all pauses: the store is up, and messages may have been lost.
    void read_again() noexcept;
    // Sends what is due: one call at a time, and none before the session's first beat is answered.
    // Reads all pauses, and tells them all, if the store's epoch has changed: it may have forgotten
    // them.
    void go_on(const shared::Session& session, SteadyTime now);

    // Handles a published message if it tells of pauses: learns them, unless this gateway has sent
    // it. Returns false if the message is about something else. session: the name of this gateway's
    // session.
    bool take(std::string_view message, std::string_view session, SteadyTime now);
    // True if the call is one of this object's.
    [[nodiscard]] static bool owns(std::uint64_t call) noexcept;
    void answered(const shared::Reply& reply, SteadyTime now);
    // The call was not answered: it is made again after a while.
    void failed(SteadyTime now) noexcept;

    // Returns how many pauses of other gateways have begun or prolonged one here.
    [[nodiscard]] std::uint64_t learnt() const noexcept { return learnt_; }

  private:
    void learn(std::string_view list, SteadyTime now);

    const std::string key_;
    SharedPauses& pauses_;
    shared::Transport& transport_;
    std::string epoch_;
    bool to_read_ = false;
    bool reads_ = false; // the call on its way reads; else it tells `telling_`
    bool calls_ = false; // a call is on its way
    std::vector<PauseTold> telling_;
    SteadyTime not_before_{};
    std::uint64_t last_call_ = 0;
    std::uint64_t learnt_ = 0;
};

} // namespace stint::stores
