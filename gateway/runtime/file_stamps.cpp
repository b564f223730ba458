#include "runtime/file_stamps.hpp"

#include <sys/stat.h>
#include <utility>

namespace stint::runtime {

FileStamps stamps_of(const std::vector<std::string>& files) {
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    FileStamps stamps;
    for (const std::string& file : files) {
        if (file.empty())
            continue;
        FileStamp stamp{file};
        struct stat status {};
        if (::stat(file.c_str(), &status) == 0) {
            stamp.modified_ns =
                std::int64_t{status.st_mtim.tv_sec} * ns_per_second + status.st_mtim.tv_nsec;
            stamp.size = status.st_size;
            stamp.inode = status.st_ino;
        }
        stamps.push_back(std::move(stamp));
    }
    return stamps;
}

void ChangedFiles::use(FileStamps stamps) {
    used_ = std::move(stamps);
    last_ = used_;
}

bool ChangedFiles::look() {
    std::vector<std::string> files;
    for (const FileStamp& each : used_)
        files.push_back(each.file);
    FileStamps now = stamps_of(files);
    const bool at_rest = now == last_;
    last_ = std::move(now);
    if (!at_rest || last_ == used_)
        return false;
    used_ = last_;
    return true;
}

} // namespace stint::runtime
