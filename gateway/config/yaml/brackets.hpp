// Finds the brackets and quotes of a YAML text that are open, without parsing the text. Serves the
// explanation of a text that the parser refuses.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace stint::config {

struct Bracket {
    char character;
    std::size_t at; // offset in the text
};

struct Brackets {
    // The brackets that are open at `stop`, and at the end of the text, outermost first.
    std::vector<Bracket> open_at_stop;
    std::vector<Bracket> open_at_end;
    // The first closing bracket whose opening bracket is missing or of the other kind. `opened` is
    // that opening bracket of the other kind.
    std::optional<Bracket> wrong;
    std::optional<Bracket> opened;
    // Offsets of the last text in quotes that ends before `stop`: of its opening quote, and behind
    // its closing one. Both 0: there is none.
    std::size_t quote_begin = 0;
    std::size_t quote_end = 0;
};

// Reads the whole text. stop: an offset in it, such as that of a syntax error.
[[nodiscard]] Brackets find_brackets(std::string_view text, std::size_t stop);

// Returns the offset behind the closing quote of the text in quotes that opens at `begin`; npos if
// there is no closing quote.
[[nodiscard]] std::size_t end_of_quotes(std::string_view text, std::size_t begin);

} // namespace stint::config
