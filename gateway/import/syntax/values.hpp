// Values in the spelling of nginx: times, sizes, rates, texts with variables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

// Each returns nullopt for a text that nginx refuses, too.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);
// "30", "90s", "1m30s", "500ms", "1h 30m"; a number without a unit counts seconds. At most 366
// days.
[[nodiscard]] std::optional<std::chrono::milliseconds> time_of(std::string_view text);
// "512", "8k", "1m", "2g", in bytes.
[[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view text);

struct Rate {
    std::uint64_t requests = 0; // from 1
    bool per_minute = false;    // else per second
};
// "10r/s" or "30r/m".
[[nodiscard]] std::optional<Rate> rate_of(std::string_view text);

// Part of a text with variables.
struct Piece {
    bool variable = false;
    std::string text; // the name of a variable, without "$" and braces; else literal text
};
// Splits "a$b${c}d" into its parts. Literal parts are never empty. "$" before another character is
// literal text.
[[nodiscard]] std::vector<Piece> pieces_of(std::string_view text);
[[nodiscard]] bool has_variables(std::string_view text);

// Returns the value of an argument "name=value"; nullopt if it has another name.
[[nodiscard]] std::optional<std::string_view>
option(std::string_view argument, std::string_view name);

} // namespace stint::import_nginx
