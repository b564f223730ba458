// Structured Fields Lists of Strings, read without copying (RFC 9651): the form of the RateLimit
// fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stint::http {

// One String of a list with its parameters. Views point into the list's text.
struct StringMember {
    std::string_view name;       // between the quotes, escapes as they are: two Strings are equal
                                 // exactly when these texts are
    std::string_view parameters; // well-formed: ";q=100;w=60"

    // integer() returns the parameter's value if it is an Integer; string() returns the text
    // between its quotes if it is a String. Both return nothing otherwise. The last parameter of a
    // name counts (RFC 9651 section 4.2.3.2).
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const noexcept;
    [[nodiscard]] std::optional<std::string_view> string(std::string_view key) const noexcept;
};

// Reads a list member by member:
//   StringList list{text};
//   while (const auto member = list.next()) …
//   if (list.malformed()) …
// A member that is anything but a String makes the whole list malformed, as the RateLimit fields
// have it (draft-ietf-httpapi-ratelimit-headers-11): a caller that acts on members looks at
// malformed() first.
class StringList {
  public:
    explicit StringList(std::string_view text) noexcept;
    [[nodiscard]] std::optional<StringMember> next() noexcept;
    [[nodiscard]] bool malformed() const noexcept { return malformed_; }

  private:
    std::string_view rest_;
    bool malformed_ = false;
};

} // namespace stint::http
