#include "runtime/watch/folder_events.hpp"

#include "base/descriptor.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <sys/inotify.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stint::runtime {
namespace {

// Not IN_MODIFY: a file that is being written, such as a log beside the configuration, would be an
// event with every line. A file is looked at when its writer closes it.
constexpr std::uint32_t looked_for = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                     IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                     IN_ONLYDIR;

std::string reason_of(int error, const char* limit) {
    std::string reason = std::generic_category().message(error);
    if (error == ENOSPC || error == EMFILE)
        reason.append(" (").append(limit).append(")");
    return reason;
}

} // namespace

FolderEvents::FolderEvents(boost::asio::io_context& control, std::function<void()> changed)
    : changed_{std::move(changed)}, inotify_{control} {}

std::map<std::string, std::string> FolderEvents::watch(const std::set<std::string>& folders) {
    std::map<std::string, std::string> failed;
    const std::string unopened = open();
    std::set<int> now;
    for (const std::string& folder : folders) {
        const int watch =
            unopened.empty()
                ? ::inotify_add_watch(inotify_.native_handle(), folder.c_str(), looked_for)
                : -1;
        if (watch >= 0)
            now.insert(watch);
        else
            failed[folder] =
                unopened.empty() ? reason_of(errno, "fs.inotify.max_user_watches") : unopened;
    }
    for (const int former : watched_)
        if (!now.contains(former))
            ::inotify_rm_watch(inotify_.native_handle(), former); // may be gone with its folder
    watched_ = std::move(now);
    return failed;
}

void FolderEvents::stop() noexcept {
    boost::system::error_code ignored;
    inotify_.close(ignored);
    watched_.clear();
}

std::string FolderEvents::open() {
    if (inotify_.is_open())
        return {};
    Descriptor opened{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    if (opened.get() < 0)
        return reason_of(errno, "open files, or fs.inotify.max_user_instances");
    boost::system::error_code error;
    inotify_.assign(opened.get(), error);
    if (error)
        return error.message();
    (void)opened.release();
    await();
    return {};
}

void FolderEvents::await() {
    inotify_.async_wait(
        boost::asio::posix::stream_descriptor::wait_read,
        [this, alive = std::weak_ptr{alive_}](const boost::system::error_code& error) {
            if (error || alive.expired() || !inotify_.is_open())
                return;
            read_all();
            await();
            changed_(); // last: it may call stop()
        });
}

// Takes the events out of the queue; which ones they are does not matter.
void FolderEvents::read_all() {
    constexpr std::size_t some_events = 16UL * 1024;
    alignas(inotify_event) std::array<char, some_events> events;
    while (::read(inotify_.native_handle(), events.data(), events.size()) > 0) {
    }
}

} // namespace stint::runtime
