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

// When something was written: both clocks, and which boot of which machine the monotonic one is of.
struct SavedClock {
    std::string boot; // empty: not known, and then not the same as any
    Now at{};

    [[nodiscard]] static SavedClock read();

    // From this steady clock to that of `later`. Within one boot it goes on, so 0. Otherwise as
    // much time has passed as the wall clock says, but no less than none: nothing lasts longer than
    // it would have from the start of `later` on.
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

// The same for limits of the same identity, and for no others.
[[nodiscard]] std::string key_of(const limits::LimitIdentity& identity);

[[nodiscard]] std::string row_key(std::string_view limit, std::uint32_t page);
[[nodiscard]] std::string row_value(const limits::SavedPage& page, const SavedClock& now);

struct LimitRow {
    std::string limit; // key_of() its identity
    KeptPage page;
};
// Nothing, if these are not what the two above wrote.
[[nodiscard]] std::optional<LimitRow> read_row(std::string_view key, std::string_view value);

} // namespace stint::runtime
