// The spellings of units and rates in other programs, for suggestions in errors.
#pragma once

#include <string>
#include <string_view>

namespace stint::config {

// Return the unit to write for a spelling in any case, such as "m" for "minutes" or "MiB" for "mb";
// "" for an unknown spelling.
[[nodiscard]] std::string_view usual_duration_unit(std::string_view spelling);
[[nodiscard]] std::string_view usual_size_unit(std::string_view spelling);

// Converts a rate in shorthand to a limit's keys: "10r/s" or "10/s" to "requests: 10 and per: 1s",
// "100 req/min" to "requests: 100 and per: 1m". Returns "" for any other text.
[[nodiscard]] std::string rate_in_keys(std::string_view text);

[[nodiscard]] std::string_view without_blanks(std::string_view text); // without spaces at its ends

} // namespace stint::config
