// A set of header field names that a configuration lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint {

// Immutable once built. Two names are the same if a server may read them alike: letter case does
// not matter, and "-" equals "_" (RFC 3875 section 4.1.18).
class FieldNames {
  public:
    FieldNames() = default;
    // names: tokens. "X-*" stands for all names that begin with "X-".
    explicit FieldNames(std::span<const std::string> names) {
        for (const std::string& name : names)
            add(name);
    }

    // Returns true if a listed name or prefix matches `name`. One table lookup rejects most names:
    // those whose first letter and length no listed name has.
    [[nodiscard]] bool contains(std::string_view name) const noexcept {
        if (name.empty() || (lengths_[row_of(name)] >> column_of(name.size()) & 1U) == 0) [[likely]]
            return false;
        return std::ranges::any_of(patterns_, [name](const Pattern& each) {
            return (each.is_prefix ? name.size() >= each.text.size()
                                   : name.size() == each.text.size()) &&
                   std::ranges::equal(name.substr(0, each.text.size()), each.text, {}, as_read);
        });
    }

  private:
    struct Pattern {
        std::string text; // in lower case and with "-" for "_"
        bool is_prefix = false;
    };

    static constexpr std::size_t columns = 64; // the last column is for all longer names

    [[nodiscard]] static constexpr char as_read(char c) noexcept {
        return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
    [[nodiscard]] static constexpr std::size_t row_of(std::string_view name) noexcept {
        return static_cast<unsigned char>(as_read(name.front())) % 32U;
    }
    [[nodiscard]] static constexpr std::size_t column_of(std::size_t size) noexcept {
        return std::min(size, columns - 1);
    }

    void add(std::string_view name) {
        Pattern pattern;
        pattern.is_prefix = name.ends_with('*');
        name.remove_suffix(pattern.is_prefix ? 1 : 0);
        if (name.empty())
            return;
        std::ranges::transform(name, std::back_inserter(pattern.text), as_read);
        std::uint64_t& lengths = lengths_[row_of(name)];
        const std::size_t column = column_of(name.size());
        lengths |= pattern.is_prefix ? ~std::uint64_t{0} << column : std::uint64_t{1} << column;
        patterns_.push_back(std::move(pattern));
    }

    // A row for each first letter. Bit n of it: a name of n characters may be listed.
    std::array<std::uint64_t, 32> lengths_{};
    std::vector<Pattern> patterns_;
};

} // namespace stint
