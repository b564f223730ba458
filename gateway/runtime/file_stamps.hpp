// Detects changed files without reading them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint::runtime {

// A file's metadata as returned by stat(). A missing file has a size of -1.
struct FileStamp {
    std::string file;
    std::int64_t modified_ns = 0; // since the epoch
    std::int64_t size = -1;
    std::uint64_t inode = 0;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
using FileStamps = std::vector<FileStamp>;

// Returns the stamp of each file; skips empty names and follows symbolic links.
[[nodiscard]] FileStamps stamps_of(const std::vector<std::string>& files);

// Reports changed files once two successive look() calls see the same stamps. Otherwise a new
// certificate could be read before its new key is written.
class ChangedFiles {
  public:
    // Sets the watched files, by the stamps of the contents that are in use.
    void use(FileStamps stamps);
    // Reads the stamps of the watched files again. Returns true if they differ from the stamps in
    // use and equal those of the previous look(). In that case they become the stamps in use.
    [[nodiscard]] bool look();

    [[nodiscard]] bool empty() const noexcept { return used_.empty(); }

  private:
    FileStamps used_;
    FileStamps last_;
};

} // namespace stint::runtime
