// Checks the bytes of a configuration before they are parsed as YAML.
#pragma once

#include "config/yaml/diagnostics.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// Reports a byte order mark, bytes that are not valid UTF-8, and control characters; of each line
// only the first of these. Returns the text without the mark and with '_' in place of all bad
// bytes, so that the rest of the file can still be checked at the same lines and columns.
[[nodiscard]] std::string checked_text(std::string_view bytes, Diagnostics& report);

// Converts byte offsets to lines and columns. Fast for offsets in ascending order.
class Positions {
  public:
    explicit Positions(std::string_view text);
    [[nodiscard]] Mark at(std::size_t offset);

  private:
    std::string_view text_;
    std::vector<std::size_t> line_starts_;
    std::size_t offset_ = 0; // offset of the last call of at()
    Mark mark_;
};

} // namespace stint::config
