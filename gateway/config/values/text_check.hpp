// Checks of a configuration's bytes before a YAML parser may see them.
#pragma once

#include "config/yaml/diagnostics.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// Reports a byte order mark, bytes that are not UTF-8 and control characters (the first of them on
// each line), and returns a text of the same lines and columns without any: each bad byte has
// become '_', so that the rest of the file can still be checked.
[[nodiscard]] std::string checked_text(std::string_view bytes, Diagnostics& report);

// Turns offsets into lines and columns. Cheap when asked in rising order.
class Positions {
  public:
    explicit Positions(std::string_view text);
    [[nodiscard]] Mark at(std::size_t offset);

  private:
    std::string_view text_;
    std::vector<std::size_t> line_starts_;
    std::size_t offset_ = 0; // the last answer
    Mark mark_;
};

} // namespace stint::config
