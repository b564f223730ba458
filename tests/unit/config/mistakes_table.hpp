// The form of the tables of mistakes: a configuration with one mistake, and the exact error. The
// mistakes are those of engineers who know another proxy.
#pragma once

#include "config_support.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

struct MistakeRow {
    enum Place { whole_file, after_base };
    Place place;            // after_base: the text follows the two lines of `base`
    std::string_view yaml;  // begins on line 1, or after `base` on line 3
    std::string_view error; // "line:column: message"
};

// Returns true if a message says what is expected, or what to do.
inline bool tells_a_next_step(std::string_view message) {
    constexpr std::array<std::string_view, 12> steps{
        "expected ",   "did you mean ",    "write ",          "remove ",
        "keep one",    "put the",          "make two",        "needs quotes",
        "indent with", "at the top level", "is in its match", "is its key"};
    return std::ranges::any_of(
        steps, [&](std::string_view step) { return message.find(step) != std::string_view::npos; });
}

// Checks that each row's configuration has just the row's error.
inline void check_rows(std::span<const MistakeRow> rows) {
    for (const MistakeRow& row : rows) {
        const std::string before{row.place == MistakeRow::after_base ? base : ""};
        const std::string whole = before + std::string{row.yaml};
        CAPTURE(whole);
        const auto result = load_text(whole, "test.yaml");
        const ConfigErrors found = result ? ConfigErrors{} : result.error();
        CHECK(text_of(found) == "test.yaml:" + std::string{row.error} + '\n');
        CHECK(tells_a_next_step(row.error));
    }
}

} // namespace stint::config
