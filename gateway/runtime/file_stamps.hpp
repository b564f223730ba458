// Whether files have changed, without reading them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stint::runtime {

// What the kernel says of a file. One that is not there has a size of -1.
struct FileStamp {
    std::string file;
    std::int64_t modified_ns = 0; // since the epoch
    std::int64_t size = -1;
    std::uint64_t inode = 0;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
using FileStamps = std::vector<FileStamp>;

// Of each that has a name, through symbolic links.
[[nodiscard]] FileStamps stamps_of(const std::vector<std::string>& files);

// Tells of a change once it has come to rest: who writes a certificate and then its key is given
// the time between two looks for it.
class ChangedFiles {
  public:
    // What is in use now, of all files that are looked at.
    void use(FileStamps stamps);
    // As they are at this look. Whether they differ from what is in use, and are what they were at
    // the last look; from then on they count as in use.
    [[nodiscard]] bool look();

    [[nodiscard]] bool empty() const noexcept { return used_.empty(); }

  private:
    FileStamps used_;
    FileStamps last_;
};

} // namespace stint::runtime
