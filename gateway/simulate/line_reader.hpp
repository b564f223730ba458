// Reads a file line by line, in bounded memory.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::simulate {

class LineReader {
  public:
    static constexpr std::size_t longest = 1 << 20; // bytes of a line; the rest is dropped

    // Opens a file; "-" is standard input. The error is one line for a person.
    [[nodiscard]] static Result<LineReader, std::string> open(const std::string& name);

    // Returns the next line without its end, valid until the next call; nothing at the end of the
    // file or when reading failed. A last line needs no end.
    [[nodiscard]] std::optional<std::string_view> next();

    [[nodiscard]] bool too_long() const noexcept { return too_long_; }  // the last line was cut
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; } // its number, from 1
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; } // empty: none

  private:
    LineReader(std::string name, std::FILE* file);
    [[nodiscard]] bool fill();
    void append(std::string_view piece);

    struct Close {
        void operator()(std::FILE* file) const noexcept {
            if (file != stdin)
                std::fclose(file);
        }
    };

    std::string name_;
    std::unique_ptr<std::FILE, Close> file_;
    std::vector<char> block_;
    std::string_view unread_; // part of block_
    std::string text_;
    std::uint64_t line_ = 0;
    bool too_long_ = false;
    std::string failure_;
};

} // namespace stint::simulate
