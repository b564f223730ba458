// Explains why a text is not YAML, because the parser's message only names the rule that is broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::config {

struct SyntaxFault {
    std::size_t at = 0; // offset of the place to correct
    std::string what;   // the fault, and the way to correct it
};

// Explains the fault because of which the parser stopped. stop: the offset at which it did. reason:
// the parser's words, used if no likely cause is found.
[[nodiscard]] SyntaxFault
explain_syntax(std::string_view text, std::size_t stop, std::string_view reason);

// Returns true if the line is a key whose colon, or the blank behind it, is missing: "requests 10",
// "requests:10" or "requests".
[[nodiscard]] bool lacks_colon(std::string_view line);

// Returns the advice on a line for which lacks_colon() is true, such as
// `has no colon after its key; write "requests: 10"`.
[[nodiscard]] std::string colon_advice(std::string_view line);

} // namespace stint::config
