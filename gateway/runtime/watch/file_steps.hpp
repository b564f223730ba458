// Where a file can be replaced: the entries of folders on the way to it, and the mounts that hide
// them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// An entry of a folder on the way to a file.
struct FileStep {
    std::string folder; // absolute and free of links
    std::string name;   // the name of the file or of a symbolic link, which may not exist

    friend bool operator==(const FileStep&, const FileStep&) = default;
};

// Returns the entries that make the path lead to its file: each symbolic link on the way
// (Kubernetes replaces a folder by the link `..data`), and the file itself. Where the path leads
// nowhere, the last one is what is missing. Folders that are no links are not among them.
[[nodiscard]] std::vector<FileStep> steps_to(const std::filesystem::path& file);

// Returns those of the files that are mount points themselves. Such a file stays the same while
// another one takes its place outside of the mount. mountinfo: the text of /proc/self/mountinfo.
// files: absolute.
[[nodiscard]] std::vector<std::string>
single_file_mounts(std::string_view mountinfo, const std::vector<std::string>& files);

} // namespace stint::runtime
