// Parses and checks paths of files in a configuration.
#pragma once

#include "config/sections/section_readers.hpp"
#include "config/yaml/reader.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace stint::config {

// Parses the path of a file; does not open the file.
[[nodiscard]] Parsed<std::filesystem::path> parse_file_path(std::string_view text);

// Returns the reason why the file cannot be read, such as " does not exist"; "" if it can be read.
[[nodiscard]] std::string file_fault(const std::filesystem::path& path);

// Returns the path without "." parts, from the root directory on: a relative path counts from the
// current folder of the process.
[[nodiscard]] std::string absolute_file(const std::string& path);

// Reads the path of a file, relative to the configuration's folder. Reports a file that does not
// exist. what: completes "the path of a file with ..." in the error.
void read_file(
    const Value& value, std::string_view what, const LoadState& loading, std::string& path);

} // namespace stint::config
