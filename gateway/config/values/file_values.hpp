// Files that a configuration names.
#pragma once

#include "config/sections/section_readers.hpp"
#include "config/yaml/reader.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace stint::config {

// What may be the path of a file.
[[nodiscard]] Parsed<std::filesystem::path> parse_file_path(std::string_view text);

// What keeps it from being read, such as " does not exist"; "" when nothing does.
[[nodiscard]] std::string file_fault(const std::filesystem::path& path);

// The path of a file that must be there, from the configuration's folder. `what` completes "the
// path of a file with ...".
void read_file(
    const Value& value, std::string_view what, const LoadState& loading, std::string& path);

} // namespace stint::config
