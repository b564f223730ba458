// Values of a configuration in the form of its file: a JSON-like type that does not depend on a
// JSON library. GET /config prints them.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stint::config {

class Shown {
  public:
    struct Member;
    using List = std::vector<Shown>;
    using Map = std::vector<Member>; // in the order of the output
    struct Bytes {
        std::uint64_t count = 0;
        [[nodiscard]] bool operator==(const Bytes&) const = default;
    };
    // A text with references to environment variables, such as "${NAME}", as written in the file.
    // In the alternative std::string, "${" is literal text.
    struct Written {
        std::string text;
        [[nodiscard]] bool operator==(const Written&) const = default;
    };
    // A text that is compared, but must not be told: it is printed as hidden_text.
    struct Secret {
        std::string text;
        [[nodiscard]] bool operator==(const Secret&) const = default;
    };
    static constexpr std::string_view hidden_text = "(hidden)";
    using Any = std::variant<
        bool,
        std::uint64_t,
        std::chrono::nanoseconds,
        Bytes,
        std::string,
        Written,
        Secret,
        List,
        Map>;

    template <class T>
    requires std::same_as<T, bool> Shown(T value);
    template <class T>
    requires(std::integral<T> && !std::same_as<T, bool>) Shown(T number); // requires number >= 0
    template <class Rep, class Period>
    Shown(std::chrono::duration<Rep, Period> length);
    Shown(Bytes size);
    Shown(Written text);
    Shown(Secret text);
    Shown(std::string text);
    Shown(std::string_view text);
    Shown(const char* text);
    Shown(List list);
    Shown(Map map);

    [[nodiscard]] const Any& value() const noexcept { return value_; }
    [[nodiscard]] bool operator==(const Shown& other) const;

  private:
    Any value_;
};

struct Shown::Member {
    std::string name;
    Shown value;

    [[nodiscard]] bool operator==(const Member& other) const = default;
};

// The constructors are defined here, where Member is complete, because std::variant needs complete
// alternatives.
template <class T>
requires std::same_as<T, bool> Shown::Shown(T value) : value_(value) {}
template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) Shown::Shown(T number)
    : value_(static_cast<std::uint64_t>(number)) {}
template <class Rep, class Period>
Shown::Shown(std::chrono::duration<Rep, Period> length)
    : value_(std::chrono::nanoseconds{length}) {}
inline Shown::Shown(Bytes size) : value_(size) {}
inline Shown::Shown(Written text) : value_(std::move(text)) {}
inline Shown::Shown(Secret text) : value_(std::move(text)) {}
inline Shown::Shown(std::string text) : value_(std::move(text)) {}
inline Shown::Shown(std::string_view text) : value_(std::string{text}) {}
inline Shown::Shown(const char* text) : value_(std::string{text}) {}
inline Shown::Shown(List list) : value_(std::move(list)) {}
inline Shown::Shown(Map map) : value_(std::move(map)) {}
inline bool Shown::operator==(const Shown& other) const {
    return value_ == other.value_;
}

// Adds a member. Requires that the map has no member of this name.
inline void add(Shown::Map& map, std::string_view name, Shown value) {
    map.push_back({std::string{name}, std::move(value)});
}

// Returns texts or numbers as a list.
template <class Items>
[[nodiscard]] Shown::List list_of(const Items& items) {
    return {items.begin(), items.end()};
}

} // namespace stint::config
