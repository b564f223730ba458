// Parses replies of the Redis protocol (RESP2 and RESP3) from bytes in any pieces. No I/O.
#pragma once

#include "redis/resp/value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::redis {

// The most that one reply may have. A reply beyond a bound is malformed.
struct Bounds {
    std::size_t depth = 8;            // containers inside one another
    std::size_t text = 1024 * 1024;   // bytes of one text or line
    std::size_t elements = 64 * 1024; // elements of all containers together; a map has two a pair
    std::size_t reply = 4 * 1024 * 1024; // bytes as sent, with their framing and attributes
};

// Not thread-safe. Takes memory only for bytes that have come: a length or a count that was
// announced reserves no more than a few kilobytes. Each byte is looked at a fixed number of times,
// however small the pieces are. Input cannot make it recurse.
class ReplyParser {
  public:
    enum class Status : std::uint8_t {
        incomplete, // all bytes were taken, and the reply goes on
        complete,   // take() has the reply; the rest of the bytes was not taken
        malformed,  // see fault(). The connection is of no use any more, nor is the parser
    };

    explicit ReplyParser(const Bounds& bounds = {});

    // Takes bytes from the front of `bytes` up to the end of one reply at most.
    [[nodiscard]] Status feed(std::string_view& bytes);

    // Returns the reply that feed() has completed, once.
    [[nodiscard]] Value take() noexcept { return std::move(reply_); }

    // True if a part of a reply has come in.
    [[nodiscard]] bool inside_reply() const noexcept { return taken_ > 0; }

    // Returns what is wrong, as a literal: "a text is longer than the bound".
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    struct Container {
        Value value;
        std::size_t missing; // elements that have not come
        bool attribute;      // dropped when it is complete: it says something of the next value
    };

    [[nodiscard]] Status feed_line(std::string_view& bytes);
    [[nodiscard]] Status feed_text(std::string_view& bytes);
    [[nodiscard]] Status on_line(std::string_view line);
    [[nodiscard]] Status on_simple(char type, std::string_view content);
    [[nodiscard]] Status begin_text(char type, std::string_view content);
    [[nodiscard]] Status end_text();
    [[nodiscard]] Status begin_container(char type, std::string_view content);
    [[nodiscard]] Status place(Value value);
    [[nodiscard]] Status refuse(std::string_view fault) noexcept;
    // Notes that bytes of this reply were taken.
    void taken(std::string_view& bytes, std::size_t size) noexcept;

    const Bounds bounds_;
    std::vector<Container> open_; // from the outermost container inwards
    std::string line_;            // the part of a line that has come
    Value text_;                  // the text whose bytes are coming
    std::optional<std::size_t> text_size_ =
        {}; // its bytes with the CRLF behind them; no text: none
    char text_type_ = 0;
    std::size_t elements_ = 0; // announced so far in this reply
    std::size_t taken_ = 0;    // bytes of this reply
    Value reply_;
    std::string_view fault_;
};

} // namespace stint::redis
