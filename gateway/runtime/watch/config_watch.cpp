#include "runtime/watch/config_watch.hpp"

#include "net/clock.hpp"
#include "runtime/watch/file_steps.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace stint::runtime {

ConfigWatch::ConfigWatch(boost::asio::io_context& control, Reloads reloads)
    : reloads_{std::move(reloads)}, timer_{control},
      events_{control, [this](const std::string& path, FileEvent event) {
                  decision_.on_event(path, event, net::read_steady_clock());
                  await_next();
              }} {}

void ConfigWatch::use(FileContents read, bool applied, bool on) {
    const bool was_on = std::exchange(on_, on && !stopped_);
    if (!on_) {
        events_.stop();
        timer_.cancel();
        unwatched_.clear();
        logged_.clear();
        mounts_.clear();
        if (was_on && !stopped_)
            spdlog::info("watch: off");
        return;
    }
    decision_.note_reload(std::move(read), applied, net::read_steady_clock());
    watch_files();
    log_files();
    await_next();
}

void ConfigWatch::stop() noexcept {
    stopped_ = true;
    on_ = false;
    events_.stop();
    timer_.cancel();
}

// Watches the files where they are by now, and logs the folders that newly cannot be watched.
void ConfigWatch::watch_files() {
    std::vector<std::string> files;
    for (const FileContent& each : decision_.files())
        files.push_back(each.path);
    std::map<std::string, std::string> failed = events_.watch(files);
    for (const auto& [folder, reason] : failed)
        if (const auto known = unwatched_.find(folder);
            known == unwatched_.end() || known->second != reason)
            spdlog::warn(
                "watch: {} cannot be watched: {}; its files are looked at every {} s", folder,
                reason, std::chrono::floor<std::chrono::seconds>(ReloadDecision::poll).count());
    unwatched_ = std::move(failed);
}

// Logs how many files are watched, and those that are mounts, if it is news.
void ConfigWatch::log_files() {
    std::set<std::string> paths;
    for (const FileContent& each : decision_.files())
        paths.insert(each.path);
    if (paths == logged_)
        return;
    logged_ = std::move(paths);
    const std::size_t count = logged_.size();
    spdlog::info(
        "watch: {} {} read again when {}", count, count == 1 ? "file is" : "files are",
        count == 1 ? "it changes" : "they change");
    std::set<std::string> mounts = mounts_of_files();
    for (const std::string& file : mounts)
        if (!mounts_.contains(file))
            spdlog::warn(
                "watch: {} is mounted as a single file: if it is replaced outside, this is not "
                "seen here; mount its folder instead",
                file);
    mounts_ = std::move(mounts);
}

std::set<std::string> ConfigWatch::mounts_of_files() const {
    std::ifstream in{"/proc/self/mountinfo"};
    const std::string mountinfo{std::istreambuf_iterator<char>{in}, {}};
    std::vector<std::string> files;
    for (const std::string& path : logged_) {
        std::error_code error;
        files.push_back(std::filesystem::absolute(path, error).lexically_normal().string());
        files.push_back(std::filesystem::weakly_canonical(path, error).string());
    }
    const auto found = single_file_mounts(mountinfo, files);
    return {found.begin(), found.end()};
}

void ConfigWatch::await_next() {
    timer_.expires_at(
        std::chrono::time_point_cast<std::chrono::steady_clock::duration>(decision_.next_look()));
    timer_.async_wait(
        [this, alive = std::weak_ptr{alive_}](const boost::system::error_code& error) {
            if (!error && !alive.expired() && on_)
                look();
        });
}

void ConfigWatch::log_changes() const {
    for (const auto& [path, by_event] : decision_.changed())
        spdlog::info("watch: {} has changed{}", path, by_event ? "" : ", without an event");
}

// First the watches, then the contents: a change after that is an event.
void ConfigWatch::look() {
    watch_files();
    FileContents present = decision_.files();
    read_contents(present);
    const ReloadDecision::Verdict verdict = decision_.look(present, net::read_steady_clock());
    await_next();
    if (verdict != ReloadDecision::Verdict::nothing)
        log_changes();
    if (verdict == ReloadDecision::Verdict::everything)
        reloads_.everything();
    else if (verdict == ReloadDecision::Verdict::certificates)
        reloads_.certificates();
}

} // namespace stint::runtime
