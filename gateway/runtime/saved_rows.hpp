// Limits' counters as rows of a state file, and the clocks of the processes that wrote them. Pure
// but for SavedClock::read().
#pragma once

#include "base/time.hpp"
#include "limits/counter/saved.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::runtime {

// The time of a write: both clocks, and the boot and machine of the monotonic one.
struct SavedClock {
    std::string boot; // empty: unknown; equal to no other
    Now at{};

    [[nodiscard]] static SavedClock read();

    // Returns the shift from this steady clock to that of `later`. It is 0 within one boot, where
    // the clock goes on. Otherwise the wall clock tells how much time has passed, and at least
    // none: nothing lasts longer than it would have from the start of `later` on.
    [[nodiscard]] Duration shift_to(const SavedClock& later) const noexcept;
};

// A page of a limit that some process has written.
struct KeptPage {
    std::uint32_t page = 0;
    SavedClock written;
    SteadyTime until{}; // as of `written`
    std::string bytes;

    [[nodiscard]] bool over(const SavedClock& now) const noexcept {
        return until + written.shift_to(now) <= now.at.steady;
    }
};

// Returns equal keys for limits of the same identity, and for no others.
[[nodiscard]] std::string key_of(const limits::LimitIdentity& identity);

[[nodiscard]] std::string row_key(std::string_view limit, std::uint32_t page);
[[nodiscard]] std::string row_value(const limits::SavedPage& page, const SavedClock& now);

struct LimitRow {
    std::string limit; // key_of() its identity
    KeptPage page;
};
// Parses a row; nothing if the two functions above did not write it.
[[nodiscard]] std::optional<LimitRow> read_row(std::string_view key, std::string_view value);

} // namespace stint::runtime
