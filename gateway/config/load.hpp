// Reads YAML into a Config, or lists every mistake in it.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// One mistake, at the place where a person would mend it. Lines and columns count from 1, columns
// in characters.
struct ConfigError {
    std::string file;
    std::size_t line = 1;
    std::size_t column = 1;
    std::string message; // the fault found and the value expected

    [[nodiscard]] std::string text() const; // "file:line:column: message"
};

using ConfigErrors = std::vector<ConfigError>; // never empty as an error; in the order of the file

// Reads and checks the file. A file that cannot be read is one mistake at 1:1.
[[nodiscard]] Result<Config, ConfigErrors> load_file(const std::filesystem::path& file);

// The same for text; `file` names it in mistakes, and relative paths are resolved against its
// folder.
[[nodiscard]] Result<Config, ConfigErrors>
load_text(std::string_view yaml, const std::filesystem::path& file);

} // namespace stint::config
