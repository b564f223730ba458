#include "observe/process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace stint::observe {

namespace {

double seconds(const timeval& time) noexcept {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::optional<std::uint64_t> resident_bytes() {
    std::ifstream statm{"/proc/self/statm"}; // sizes in pages: total, resident, … (proc(5))
    std::uint64_t whole = 0;
    std::uint64_t resident = 0;
    if (!(statm >> whole >> resident))
        return std::nullopt;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> open_files() {
    std::error_code error;
    std::filesystem::directory_iterator entry{"/proc/self/fd", error};
    std::uint64_t count = 0;
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error))
        ++count;
    if (error || count == 0)
        return std::nullopt;
    return count - 1; // excludes the descriptor of the listing itself
}

} // namespace

ProcessUsage read_process_usage() {
    ProcessUsage usage;
    struct rusage times {};
    if (::getrusage(RUSAGE_SELF, &times) == 0)
        usage.cpu_seconds = seconds(times.ru_utime) + seconds(times.ru_stime);
    usage.resident_bytes = resident_bytes();
    usage.open_files = open_files();
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        usage.open_files_limit = limit.rlim_cur;
    return usage;
}

} // namespace stint::observe
