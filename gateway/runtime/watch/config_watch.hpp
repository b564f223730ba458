// Reads the configuration again when its files change: `watch`.
#pragma once

#include "runtime/watch/file_contents.hpp"
#include "runtime/watch/file_events.hpp"
#include "runtime/watch/reload_decision.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace stint::runtime {

// Watches the files that a reload reads, and looks at them after an event and every
// ReloadDecision::poll. Used by the control thread alone. Its end is the end of the watch.
class ConfigWatch {
  public:
    struct Reloads {
        std::function<void()> everything;   // ends with use()
        std::function<void()> certificates; // only the files of TLS
    };
    ConfigWatch(boost::asio::io_context& control, Reloads reloads);

    // Watches the files, or nothing if `on` is false. Call it at the start and after each attempt
    // to reload, whatever has caused it. read: the contents that it has read. applied: they are in
    // force.
    void use(FileContents read, bool applied, bool on);
    // Stops for good: use() has no effect afterwards.
    void stop() noexcept;

    // Returns the number of folders that the kernel does not watch, though it should.
    [[nodiscard]] std::size_t unwatched_folders() const noexcept { return unwatched_.size(); }

  private:
    void watch_files();
    void log_changes() const;
    void log_files();
    [[nodiscard]] std::set<std::string> mounts_of_files() const;
    void await_next();
    void look();

    const Reloads reloads_;
    ReloadDecision decision_;
    boost::asio::steady_timer timer_;
    FileEvents events_;
    std::map<std::string, std::string> unwatched_; // folders, with the reasons, as logged
    std::set<std::string> logged_;                 // files, as logged
    std::set<std::string> mounts_;                 // those that are mounts, as logged
    const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
    bool on_ = false;
    bool stopped_ = false;
};

} // namespace stint::runtime
