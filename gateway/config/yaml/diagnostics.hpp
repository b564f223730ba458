// Collects the errors of a configuration file while reading goes on, and helps to word them.
#pragma once

#include "config/load.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stint::config {

// A place in the configuration file. Lines and columns count from 1; columns count characters.
struct Mark {
    std::size_t line = 1;
    std::size_t column = 1;
};

class Diagnostics {
  public:
    explicit Diagnostics(std::string file);

    // Adds an error; escapes control characters in the message.
    void add(Mark at, std::string message);
    [[nodiscard]] bool empty() const noexcept { return mistakes_.empty(); }
    // Asks to compare a text with this number of names, to find the one that it misspells. Returns
    // true and counts the comparisons, or false if all errors of the file together would make more
    // than most_comparisons. That bounds the time: an error with 20,000 names takes 15 ms.
    [[nodiscard]] bool may_compare(std::size_t names) noexcept;
    static constexpr std::size_t most_comparisons = 200'000;
    // Returns the errors in the order of the file, without duplicates.
    [[nodiscard]] ConfigErrors take() &&;

  private:
    std::string file_;
    ConfigErrors mistakes_;
    std::size_t comparisons_ = 0; // counted by may_compare() so far
};

// Returns the text with \xNN in place of control characters, so that it is safe on a terminal.
[[nodiscard]] std::string without_controls(std::string_view text);

// Quotes text of the file for an error message: escapes control characters and cuts long text, so
// that it fits on a terminal's line.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Returns the candidate that `text` probably misspells, or "". The comparison ignores case; longer
// words may differ in more letters.
[[nodiscard]] std::string_view
nearest(std::string_view text, std::span<const std::string_view> candidates);

// Returns a text such as `; did you mean "shop"?`, or "" if no candidate is similar.
[[nodiscard]] std::string
did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

// Returns a list in words: "a, b and c", or with last_word "or" "a, b or c".
[[nodiscard]] std::string
listed(std::span<const std::string_view> words, std::string_view last_word);

} // namespace stint::config
