// Files that a configuration names.
#pragma once

#include "config/sections/section_readers.hpp"
#include "config/yaml/reader.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace stint::config {

// Parses the path of a file.
[[nodiscard]] Parsed<std::filesystem::path> parse_file_path(std::string_view text);

// Returns why the file cannot be read, such as " does not exist"; "" when it can.
[[nodiscard]] std::string file_fault(const std::filesystem::path& path);

// Reads the path of a file that must exist, relative to the configuration's folder. `what`
// completes "the path of a file with ...".
void read_file(
    const Value& value, std::string_view what, const LoadState& loading, std::string& path);

} // namespace stint::config
