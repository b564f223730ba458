// Reads a YAML configuration into a Config, or returns every error in the file.
#pragma once

#include "base/error.hpp"
#include "config/schema/schema.hpp"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::config {

// One error of a configuration file, at the place to correct. Lines and columns count from 1;
// columns count characters.
struct ConfigError {
    std::string file;
    std::size_t line = 1;
    std::size_t column = 1;
    std::string message; // the error, and the expected value

    [[nodiscard]] std::string place() const; // "file:line:column"
    [[nodiscard]] std::string text() const;  // "file:line:column: message"
};

// In the order of the file. Never empty as the error of a Result.
using ConfigErrors = std::vector<ConfigError>;

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// A configuration as far as it could be read.
struct Attempt {
    Config config; // with errors it is incomplete: it serves to find the files that it names
    ConfigErrors errors;
};
// Returns the configuration of an attempt without errors, else these.
[[nodiscard]] Result<Config, ConfigErrors> result_of(Attempt attempt);

constexpr std::size_t largest_file = 16U << 20U; // bytes of a configuration

// Reads a configuration file without checking it; of one that is larger than largest_file, which
// load_text() rejects, only the beginning. A file that cannot be read is reported as one error at
// 1:1.
[[nodiscard]] Result<std::string, ConfigErrors> read_text(const std::filesystem::path& file);
// Reads the rest of the stream, for example of the standard input. file: named in the error.
[[nodiscard]] Result<std::string, ConfigErrors>
read_text(std::FILE& in, const std::filesystem::path& file);

// Reads and checks a configuration file. A file that cannot be read is reported as one error at
// 1:1. environment: fills in ${NAME} in the file's values; without it no variable is set.
[[nodiscard]] Result<Config, ConfigErrors>
load_file(const std::filesystem::path& file, const Environment& environment = {});

// Reads and checks a configuration's text. file: named in errors; its folder is the base of
// relative paths. environment: as in load_file().
[[nodiscard]] Result<Config, ConfigErrors> load_text(
    std::string_view yaml, const std::filesystem::path& file, const Environment& environment = {});
// As load_text(), for a caller that needs the faulty configuration, too.
[[nodiscard]] Attempt attempt_to_load(
    std::string_view yaml, const std::filesystem::path& file, const Environment& environment = {});

} // namespace stint::config
