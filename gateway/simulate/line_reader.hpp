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
    static constexpr std::size_t longest = 1 << 20; // bytes; the rest of a line is dropped
    // Opens a file; "-" is standard input. The error is one human-readable line.
    [[nodiscard]] static Result<LineReader, std::string> open(const std::string& name);

    // Returns the next line without its newline, valid until the next call; nullopt at the end of
    // the file or after a read error. The last line needs no newline.
    [[nodiscard]] std::optional<std::string_view> next();

    // Describe the line of the last next(): too_long() is true if it was cut; line() is its number,
    // from 1.
    [[nodiscard]] bool too_long() const noexcept { return too_long_; }
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // Returns the read error; empty if there was none.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

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
