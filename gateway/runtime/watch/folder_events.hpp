// The kernel's events about folders (inotify), as one signal: something has changed.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace stint::runtime {

// Neither the names nor the kinds of events are told, as they differ between editors, systems and
// mounts; a loss of events is an event, too. Used by the thread of its event loop. Its end is the
// end of all watches, and no call follows.
class FolderEvents {
  public:
    // changed: called after events, once for all that have arrived together.
    FolderEvents(boost::asio::io_context& control, std::function<void()> changed);

    // Watches these folders, and no others. Returns those that cannot be watched, with the reason.
    // A folder that is another one by now, or that exists again, is watched by the next call.
    [[nodiscard]] std::map<std::string, std::string> watch(const std::set<std::string>& folders);
    // Watches nothing.
    void stop() noexcept;

  private:
    [[nodiscard]] std::string open(); // returns the reason of a failure; "" if it is open
    void await();
    void read_all();

    const std::function<void()> changed_;
    boost::asio::posix::stream_descriptor inotify_;
    std::set<int> watched_; // descriptors of watches
    const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace stint::runtime
