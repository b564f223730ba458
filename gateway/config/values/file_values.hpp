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

// Returns the absolute path, without "." parts. A relative path is resolved from the working folder
// of the process; if that is not known, returns `path` as it is.
[[nodiscard]] std::string absolute_file(const std::string& path);

// Reads the path of a file, relative to the configuration's folder. Reports an error if the file
// cannot be read. what: completes "the path of a file with ..." in the error.
void read_file(
    const Value& value, std::string_view what, const LoadState& loading, std::string& path);

} // namespace stint::config
