// Detects changed files without reading them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint::runtime {

// A file's metadata from the kernel. A missing file has a size of -1.
struct FileStamp {
    std::string file;
    std::int64_t modified_ns = 0; // since the epoch
    std::int64_t size = -1;
    std::uint64_t inode = 0;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
using FileStamps = std::vector<FileStamp>;

// Returns the stamp of each file that has a name, through symbolic links.
[[nodiscard]] FileStamps stamps_of(const std::vector<std::string>& files);

// Reports a change once the files are stable: a certificate and its key may be written one after
// the other, between two looks.
class ChangedFiles {
  public:
    // Sets the stamps in use now, of all watched files.
    void use(FileStamps stamps);
    // Reads the stamps again. Returns true if they differ from those in use and equal those of the
    // last look. Then they are the stamps in use.
    [[nodiscard]] bool look();

    [[nodiscard]] bool empty() const noexcept { return used_.empty(); }

  private:
    FileStamps used_;
    FileStamps last_;
};

} // namespace stint::runtime
