// The files that a reload reads, and hashes of what is in them.
#pragma once

#include "base/hash.hpp"
#include "config/load.hpp"
#include "config/schema/schema.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// A file, and its content at one time.
struct FileContent {
    std::string path;              // absolute, or relative to the working folder
    bool tls = false;              // a certificate, a key, or another file of a TLS object
    std::optional<Hash128> hash{}; // nullopt: it is not there, or not to be read, or has not been

    friend bool operator==(const FileContent&, const FileContent&) = default;
};
using FileContents = std::vector<FileContent>;

// Returns the files that a reload to the configuration reads, without their hashes:
// `file`, which is the configuration file, and those that it names. Each is there once, `file`
// first. The tokens of the admin listener, which are read at the start alone, are among them only
// if there are errors: they may be the reason.
[[nodiscard]] FileContents
files_read_by(const config::Config& config, const std::filesystem::path& file, bool has_errors);

// Returns the hash that tells the content of a file from others.
[[nodiscard]] Hash128 content_hash(std::string_view text);

// Reads the files, following symbolic links, and sets their hashes. Opens no pipe and no device:
// whoever writes to it must not lose its reader. Such a file keeps the hash that it has here, and
// so does one that cannot be read for a reason of the system, such as a lack of descriptors.
void read_contents(FileContents& files);

// A configuration file that was read once, for what is in it and for its hash.
struct ReadConfig {
    config::Attempt attempt;
    FileContent file; // as it was read
};
[[nodiscard]] ReadConfig
read_config(const std::filesystem::path& file, const config::Environment& environment);

} // namespace stint::runtime
