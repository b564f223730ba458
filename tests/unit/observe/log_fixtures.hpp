// Files, FIFOs and a captured operational log for the tests of the access log.
#pragma once

#include "base/descriptor.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace stint::observe::test {

// Waits, by looking again and again, for what another thread is to bring about. Ten seconds are for
// a machine that does something else: no test passes later for being slow.
template <class Predicate>
[[nodiscard]] bool eventually(Predicate predicate) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!predicate()) {
        if (std::chrono::steady_clock::now() > give_up)
            return false;
        std::this_thread::yield();
    }
    return true;
}

// What can be read without waiting.
[[nodiscard]] inline std::string read_some(const Descriptor& from) {
    std::string text(1024UL * 1024, '\0');
    const ssize_t size = ::read(from.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

class TempFolder : public stint::test::TempFolder {
  public:
    [[nodiscard]] std::string make_fifo(const std::string& name) const {
        REQUIRE(::mkfifo(file(name).c_str(), 0600) == 0);
        return file(name);
    }
};

// A reader that has opened the FIFO and reads only when the test does.
[[nodiscard]] inline Descriptor open_reader(const std::string& fifo) {
    Descriptor reader{::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(reader.get() >= 0);
    return reader;
}

[[nodiscard]] inline std::string contents(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// The lines that ended; a torso at the end of `text` is left out.
[[nodiscard]] inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1)
        lines.push_back(text.substr(begin, end - begin));
    return lines;
}

[[nodiscard]] inline bool all_json(const std::string& text) {
    for (const std::string& line : lines_of(text))
        if (!nlohmann::json::accept(line))
            return false;
    return true;
}

// Takes the operational log's place while it lives.
class CapturedLog {
  public:
    CapturedLog() : before_{spdlog::default_logger()} {
        auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("captured", std::move(sink)));
    }
    ~CapturedLog() { spdlog::set_default_logger(before_); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    // Only while no other thread logs.
    [[nodiscard]] std::size_t count(const std::string& part) const {
        std::size_t found = 0;
        for (const std::string& line : lines_of(text_.str()))
            found += line.find(part) != std::string::npos ? 1 : 0;
        return found;
    }

  private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> before_;
};

} // namespace stint::observe::test
