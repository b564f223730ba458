// Collects mistakes while the rest of the file is still being read, and words them.
#pragma once

#include "config/load.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

// A place in the file; lines and columns count from 1, columns in characters.
struct Mark {
    std::size_t line = 1;
    std::size_t column = 1;
};

class Diagnostics {
  public:
    explicit Diagnostics(std::string file);

    // Control characters in the message are escaped.
    void add(Mark at, std::string message);
    [[nodiscard]] bool empty() const noexcept { return mistakes_.empty(); }
    // In the order of the file, each once.
    [[nodiscard]] ConfigErrors take() &&;

  private:
    std::string file_;
    ConfigErrors mistakes_;
};

// Quotes text of the file, fit for one line of a terminal: control characters escaped, long text
// cut.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The candidate that `text` was probably meant to be, or "". Letters of the other case cost
// nothing; a longer word may have more wrong letters.
[[nodiscard]] std::string_view
nearest(std::string_view text, std::span<const std::string_view> candidates);

// `; did you mean "shop"?`, or "" when no candidate is near.
[[nodiscard]] std::string
did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

// "a, b and c" (or another last word: "a, b or c").
[[nodiscard]] std::string
listed(std::span<const std::string_view> words, std::string_view last_word);

} // namespace stint::config
