// Encodes counters of limits as rows of the state file, with the clocks of the process that wrote
// them. Only SavedClock::read() has side effects.
#pragma once

#include "base/time.hpp"
#include "limits/counter/saved.hpp"
#include "limits/spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stint::runtime {

// The time of a write to the state file, by the wall clock and the steady clock. A steady clock is
// valid within one system boot only, so the boot id is saved, too.
struct SavedClock {
    std::string boot; // kernel boot id; empty means unknown and equals no other
    Now at{};

    [[nodiscard]] static SavedClock read();

    // Returns the duration to add to a steady time of this clock to get a steady time of `later`.
    // It is 0 within one boot. After a reboot the wall clocks decide how much time has passed. A
    // wall clock that was set back counts as no time passed, so no saved duration gets longer.
    [[nodiscard]] Duration shift_to(const SavedClock& later) const noexcept;
};

// A page of a limit's counters as a process wrote it to the state file.
struct KeptPage {
    std::uint32_t page = 0;
    SavedClock written;
    SteadyTime until{}; // end of the page's last window, by the steady clock of `written`
    std::string bytes;

    [[nodiscard]] bool over(const SavedClock& now) const noexcept {
        return until + written.shift_to(now) <= now.at.steady;
    }
};

// Returns the encoded identity of a limit. Keys are equal only for equal identities.
[[nodiscard]] std::string key_of(const limits::LimitIdentity& identity);

[[nodiscard]] std::string row_key(std::string_view limit, std::uint32_t page);
[[nodiscard]] std::string row_value(const limits::SavedPage& page, const SavedClock& now);

// The key of a row, parsed: what row_key() was made of. nullopt: it is too short.
struct RowName {
    std::string_view limit;
    std::uint32_t page = 0;
};
[[nodiscard]] std::optional<RowName> row_in(std::string_view key) noexcept;

struct LimitRow {
    std::string limit; // the key_of() of its identity
    KeptPage page;
};
// Parses a row. Returns nullopt if it was not encoded by row_key() and row_value().
[[nodiscard]] std::optional<LimitRow> read_row(std::string_view key, std::string_view value);

} // namespace stint::runtime
