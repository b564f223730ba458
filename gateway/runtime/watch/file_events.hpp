// The kernel's events about files (inotify): who writes them, and what replaces them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct inotify_event;

namespace stint::runtime {

enum class FileEvent : std::uint8_t {
    written,  // by a writer that has not closed it
    complete, // it was closed by a writer, or is another one, or is gone
    touched,  // something else: its permissions, for example
    lost      // events may be lost, and any of these may have happened
};

// Watches the folders in which a file can be replaced, and the file itself. Used by the thread of
// its event loop. Its end is the end of all watches, and no call follows.
class FileEvents {
  public:
    using Happened = std::function<void(const std::string& path, FileEvent event)>;

    // happened: called for each event, with the path that watch() has got.
    FileEvents(boost::asio::io_context& control, Happened happened);

    // Watches these files, and no others. Returns the folders that cannot be watched, with the
    // reason. A folder or a file that is another one by now, or that exists again, is watched by
    // the next call.
    [[nodiscard]] std::map<std::string, std::string> watch(const std::vector<std::string>& files);
    // Watches nothing.
    void stop() noexcept;

  private:
    // A watch of inotify: a folder, or a file itself.
    struct Watched {
        std::string folder; // "": a file
        // The paths of the files to which an entry of the folder leads, by its name.
        std::map<std::string, std::set<std::string>, std::less<>> entries;
    };
    using Events = std::vector<std::pair<std::string, FileEvent>>;

    [[nodiscard]] std::string open(); // returns the reason of a failure; "" if it is open
    void await();
    [[nodiscard]] Events read_all();
    void add_to(Events& events, const inotify_event& event, std::string_view name) const;

    const Happened happened_;
    boost::asio::posix::stream_descriptor inotify_;
    std::map<int, Watched> watched_; // by descriptors of watches
    const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace stint::runtime
