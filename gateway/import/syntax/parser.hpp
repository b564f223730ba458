// Parses an nginx configuration, with the files that it includes, into directives. Does no I/O: the
// caller finds and reads the files.
#pragma once

#include "base/error.hpp"
#include "import/syntax/directive.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

// The bytes of a file, or why there are none.
struct FileText {
    std::string bytes{};
    std::string fault{}; // empty: it was read
};

// The files that match a pattern, in the order in which they are included.
struct FoundFiles {
    std::vector<std::string> paths{};
    std::string fault{}; // why a folder could not be read; empty: all were
};

// Access to the files that `include` names.
struct Sources {
    std::function<FileText(const std::string& path)> read;
    std::function<FoundFiles(const std::string& pattern)> find; // pattern: with * ? [ ]
    std::string folder; // relative paths begin here: the folder of the main file, as in nginx
};

// Bounds of a configuration. A larger one is a fault.
inline constexpr std::size_t most_file_bytes = std::size_t{4} << 20U;
inline constexpr std::size_t most_bytes = std::size_t{16} << 20U; // all files together
inline constexpr std::size_t most_files = 2000;
inline constexpr std::size_t most_directives = 200'000;
inline constexpr std::size_t most_levels = 32;   // blocks within blocks
inline constexpr std::size_t most_includes = 16; // files within files

// An included file or pattern that could not be read, or a pattern that nothing matches.
struct MissingFile {
    Place at; // the place of the `include`
    std::string path;
    std::string reason; // empty: nothing matches
};

struct Parsed {
    std::vector<Directive> directives;
    std::vector<MissingFile> missing;
};

// Parses the text of the main file. file: its name, for places.
[[nodiscard]] Result<Parsed, SyntaxFault>
parse(std::string_view text, const std::string& file, const Sources& sources);

} // namespace stint::import_nginx
