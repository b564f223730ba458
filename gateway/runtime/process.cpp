#include "runtime/process.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <numeric>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace stint::runtime {
namespace {

void mask_held_signals(int how) noexcept {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int number : {SIGHUP, SIGUSR1, SIGUSR2})
        ::sigaddset(&held, number);
    ::pthread_sigmask(how, &held, nullptr);
}

} // namespace

void open_standard_streams() noexcept {
    int opened = 0;
    while (opened >= 0 && opened <= STDERR_FILENO)
        opened = ::open("/dev/null", O_RDWR); // open() returns the lowest free descriptor
    if (opened > STDERR_FILENO)
        ::close(opened);
}

std::optional<std::string> environment_variable(std::string_view name) {
    const char* const value = std::getenv(std::string{name}.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

std::string executable_file() {
    std::error_code failed;
    const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::string{} : file.string();
}

void hold_signals() noexcept {
    mask_held_signals(SIG_BLOCK);
}

void deliver_held_signals() noexcept {
    mask_held_signals(SIG_UNBLOCK);
}

void ignore_signals() noexcept {
    for (const int number :
         {SIGPIPE, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT})
        std::signal(number, SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; ++number)
        std::signal(number, SIG_IGN);
}

void raise_open_files_limit(std::size_t max_connections) {
    constexpr rlim_t own = 256; // for listeners, logs, event loops and admin connections
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

void return_free_memory() noexcept {
    ::malloc_trim(0);
}

std::vector<int> usable_cores() {
    std::vector<int> cores;
    cpu_set_t usable; // holds 1,024 cores; sched_getaffinity() fails on larger systems
    if (::sched_getaffinity(0, sizeof usable, &usable) == 0)
        for (int core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &usable))
                cores.push_back(core);
    if (cores.empty()) {
        cores.resize(std::max(1U, std::thread::hardware_concurrency()));
        std::iota(cores.begin(), cores.end(), 0);
    }
    return cores;
}

void pin(std::thread& thread, int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(core), &only);
    const int failed = ::pthread_setaffinity_np(thread.native_handle(), sizeof only, &only);
    if (failed != 0)
        spdlog::warn(
            "pin_workers: a worker cannot be kept on core {}: {}", core,
            std::generic_category().message(failed));
}

} // namespace stint::runtime
