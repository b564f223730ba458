// Regular expressions over whole texts, in RE2's syntax (github.com/google/re2/wiki/Syntax): time
// is linear in the text whatever the pattern is, and memory is bounded.
#pragma once

#include "base/error.hpp"

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
    struct Fault {
        std::string why; // in RE2's words
    };
    [[nodiscard]] static Result<Regex, Fault> compile(std::string_view pattern);

    [[nodiscard]] const std::string& pattern() const noexcept;

    // Whether it is the text as a whole that matches, as if written between "^(?:" and ")$". The
    // automaton that RE2 makes on the way allocates, up to max_memory in all; what it has made it
    // keeps.
    [[nodiscard]] bool matches(std::string_view text) const;
    // The same, and puts `to` into `out` then, with \0 for the text and \1 to \9 for its groups.
    // to: without a rewrite_fault().
    bool rewrite(std::string_view text, std::string_view to, std::string& out) const;

    // Why `to` cannot be filled in, in RE2's words; "" when it can.
    [[nodiscard]] std::string rewrite_fault(std::string_view to) const;
    // False: no text that begins with this character matches.
    [[nodiscard]] bool may_begin_with(char first) const;

    static constexpr std::size_t max_memory = 1 << 20; // bytes: of the pattern and its automaton
    static constexpr std::size_t most_groups = 9;

  private:
    explicit Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_{std::move(compiled)} {}

    std::shared_ptr<const re2::RE2> compiled_;
};

} // namespace stint
