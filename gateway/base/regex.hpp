// Regular expressions over whole texts, in RE2's syntax (github.com/google/re2/wiki/Syntax): time
// is linear in the text whatever the pattern is, and memory is bounded.
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
    static constexpr std::size_t max_memory = 1 << 20; // bytes: of the pattern and its automaton
    static constexpr std::size_t most_groups = 9;

    struct Fault {
        std::string why; // in RE2's words
    };
    [[nodiscard]] static Result<Regex, Fault> compile(std::string_view pattern);

    [[nodiscard]] const std::string& pattern() const noexcept;

    // True if the text as a whole matches, as if the pattern stood between "^(?:" and ")$". The
    // automaton that RE2 makes on the way allocates, up to max_memory in all; RE2 keeps it.
    [[nodiscard]] bool matches(std::string_view text) const;

    // Parts of the text; [0] is the whole text.
    using Groups = std::array<std::string_view, most_groups + 1>;
    // Matches, and puts those groups into `groups` that `to` names as \0 to \9; other groups, and
    // those that took no part in the match, are empty. RE2 may allocate for them at every call.
    // to: without a rewrite_fault().
    [[nodiscard]] bool
    match_groups(std::string_view text, std::string_view to, Groups& groups) const;

    // Returns why groups cannot be filled into `to`, in RE2's words; "" when they can: each "\" in
    // it is followed by another, or by the number of a group.
    [[nodiscard]] std::string rewrite_fault(std::string_view to) const;
    // False if no text that begins with this character matches.
    [[nodiscard]] bool may_begin_with(char first) const;

  private:
    explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_{std::move(compiled)} {}

    std::shared_ptr<const re2::RE2> compiled_;
};

} // namespace stint
