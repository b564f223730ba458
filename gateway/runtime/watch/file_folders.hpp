// Where a file can be replaced: the folders on the way to it, and the mounts that hide them.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stint::runtime {

// Adds the folders in which the path can come to lead to another file: the file's own, and those of
// all symbolic links on the way (Kubernetes replaces a folder by the link `..data`). Where the path
// leads nowhere, the last folder that exists. All are absolute and free of links.
void add_folders_of(const std::filesystem::path& file, std::set<std::string>& folders);

// Returns those of the files that are mount points themselves. Such a file stays the same while
// another one takes its place outside of the mount. mountinfo: the text of /proc/self/mountinfo.
// files: absolute.
[[nodiscard]] std::vector<std::string>
single_file_mounts(std::string_view mountinfo, const std::vector<std::string>& files);

} // namespace stint::runtime
