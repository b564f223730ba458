// The text of a configuration, from a file or from standard input.
#pragma once

#include "config/load.hpp"

#include <string>

namespace stint::check {

struct Source {
    std::string shown; // the file's name in messages
    Result<std::string, config::ConfigErrors> text;
};

// Reads a file, or standard input for "-".
[[nodiscard]] Source read_source(const std::string& file);

[[nodiscard]] Result<config::Config, config::ConfigErrors>
load(const Source& source, const config::Environment& environment);

} // namespace stint::check
