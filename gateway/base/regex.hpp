// Regular expressions that match whole texts, in RE2's syntax (github.com/google/re2/wiki/Syntax).
// Matching takes time linear in the text for any pattern, and bounded memory.
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace re2 {
class RE2;
}

namespace stint {

// Immutable; copies share the compiled pattern. Any thread may match.
class Regex {
  public:
    static constexpr std::size_t max_memory = 1 << 20; // bytes, for the pattern and its automaton
    static constexpr std::size_t most_groups = 9;

    struct Fault {
        std::string why; // the reason, in RE2's words
    };
    [[nodiscard]] static Result<Regex, Fault> compile(std::string_view pattern);

    [[nodiscard]] const std::string& pattern() const noexcept;

    // True if the text as a whole matches, as if the pattern stood between "^(?:" and ")$". RE2
    // builds its automaton during matches, and keeps it: a call may allocate, up to max_memory in
    // all.
    [[nodiscard]] bool matches(std::string_view text) const;

    // Parts of the text; [0] is the whole text.
    using Groups = std::array<std::string_view, most_groups + 1>;
    // Returns true if the whole text matches, and then sets all groups up to the highest that `to`
    // names (\0 to \9). Higher groups, and groups that took no part in the match, are empty.
    // Returns false, with `groups` unchanged, if the text does not match. RE2 may allocate memory
    // at every call. to: a text without a rewrite_fault().
    [[nodiscard]] bool
    match_groups(std::string_view text, std::string_view to, Groups& groups) const;

    // Returns the reason, in RE2's words, why groups cannot be filled into `to`; "" if they can.
    // Each "\" in `to` must be followed by another "\" or by the number of a group.
    [[nodiscard]] std::string rewrite_fault(std::string_view to) const;
    // Returns false if no text that begins with `first` can match. Returns true if one can match,
    // and also if RE2 cannot tell.
    [[nodiscard]] bool may_begin_with(char first) const;

  private:
    explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_{std::move(compiled)} {}

    std::shared_ptr<const re2::RE2> compiled_;
};

} // namespace stint
