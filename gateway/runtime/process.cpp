#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace stint::runtime {

void open_standard_streams() noexcept {
    int opened = 0;
    while (opened >= 0 && opened <= STDERR_FILENO)
        opened = ::open("/dev/null", O_RDWR); // the lowest free number each time
    if (opened > STDERR_FILENO)
        ::close(opened);
}

void ignore_broken_pipes() noexcept {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void raise_open_files_limit(std::size_t max_connections) {
    constexpr rlim_t own = 256; // listeners, logs, event loops, admin connections
    const rlim_t needed = 2 * static_cast<rlim_t>(max_connections) + own;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t soft = limit.rlim_cur;
    for (const rlim_t wanted : {limit.rlim_max, std::min(needed, limit.rlim_max), soft}) {
        limit.rlim_cur = wanted;
        if (::setrlimit(RLIMIT_NOFILE, &limit) == 0)
            break;
    }
    if (limit.rlim_cur < needed)
        spdlog::warn(
            "max_connections: {} needs {} open files, but the limit is {} (ulimit -Hn): "
            "when they run out, idle connections are closed and new ones wait",
            max_connections, needed, limit.rlim_cur);
}

} // namespace stint::runtime
