// A reply of the Redis protocol (RESP2 and RESP3) as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

// One reply, or one element of a reply. Copyable; refers to nothing outside itself.
struct Value {
    enum class Kind : std::uint8_t {
        nil,        // RESP3's null, and RESP2's null text and null array
        integer,    // `integer`
        boolean,    // `integer` is 1 or 0
        real,       // `real`; may be infinite or not a number
        simple,     // `text`: a status such as "OK"
        bulk,       // `text`: any bytes
        verbatim,   // `text`, without the format in front of it
        big_number, // `text`: decimal digits, perhaps behind a sign
        error,      // `text`: "CODE message"
        array,      // `items`
        set,        // `items`
        map,        // `items`: key, value, key, value ...
        push,       // `items`: a message that answers no command
    };

    Kind kind = Kind::nil;
    std::int64_t integer = 0;
    double real = 0;
    std::string text = {};
    std::vector<Value> items = {};

    [[nodiscard]] bool is_nil() const noexcept { return kind == Kind::nil; }
    [[nodiscard]] bool is_error() const noexcept { return kind == Kind::error; }
    [[nodiscard]] bool is_integer() const noexcept { return kind == Kind::integer; }
    // True for a simple, bulk or verbatim text.
    [[nodiscard]] bool is_text() const noexcept;
    // True for what has items.
    [[nodiscard]] bool is_list() const noexcept;

    // Returns the value behind the key in a map, or in an array of key, value, key, value ... (as
    // RESP2 sends maps); null if there is none.
    [[nodiscard]] const Value* member(std::string_view key) const noexcept;

    bool operator==(const Value&) const = default;
};

// Returns an error's code, its first word: "NOSCRIPT" of "NOSCRIPT No matching script."
[[nodiscard]] std::string_view code_of(std::string_view error) noexcept;

} // namespace stint::redis
