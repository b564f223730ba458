#include "cpu_use.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace stint::bench {

double cpu_seconds(const std::vector<int>& processes) {
    double sum = 0;
    for (const int process : processes) {
        std::error_code gone; // a process or thread may end meanwhile
        const auto tasks = "/proc/" + std::to_string(process) + "/task";
        for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
            std::uint64_t nanoseconds = 0;
            if (std::ifstream(task.path() / "schedstat") >> nanoseconds)
                sum += static_cast<double>(nanoseconds) / 1e9;
        }
    }
    return sum;
}

double idle_seconds(const std::vector<int>& cores) {
    double ticks = 0;
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        for (const int core : cores) {
            if (name != "cpu" + std::to_string(core))
                continue;
            double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0;
            words >> user >> nice >> system >> idle >> io_wait;
            ticks += idle + io_wait;
        }
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace stint::bench
