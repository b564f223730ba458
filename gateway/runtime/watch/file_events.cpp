#include "runtime/watch/file_events.hpp"

#include "base/descriptor.hpp"
#include "runtime/watch/file_steps.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stint::runtime {
namespace {

// Not IN_MODIFY: a file that is being written, such as a log beside the configuration, would be an
// event with every line.
constexpr std::uint32_t of_folders = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                     IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                     IN_ONLYDIR;
// IN_MASK_ADD: what is named as a file may be a folder that is watched.
constexpr std::uint32_t of_files = IN_MODIFY | IN_CLOSE_WRITE | IN_MASK_ADD;

std::string reason_of(int error, const char* limit) {
    std::string reason = std::generic_category().message(error);
    if (error == ENOSPC || error == EMFILE)
        reason.append(" (").append(limit).append(")");
    return reason;
}

// Returns true if a new entry of a folder is a file that its writer has just made, rather than a
// link or a folder, which are complete at once.
bool is_new_file(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

} // namespace

FileEvents::FileEvents(boost::asio::io_context& control, Happened happened)
    : happened_{std::move(happened)}, inotify_{control} {}

std::map<std::string, std::string> FileEvents::watch(const std::vector<std::string>& files) {
    std::map<std::string, std::string> failed;
    const std::string unopened = open();
    std::map<int, Watched> now;
    const auto add = [&](const std::string& path, std::uint32_t events) -> Watched* {
        const int watch = unopened.empty()
                              ? ::inotify_add_watch(inotify_.native_handle(), path.c_str(), events)
                              : -1;
        return watch < 0 ? nullptr : &now[watch];
    };
    for (const std::string& file : files) {
        for (const FileStep& step : steps_to(file))
            if (Watched* const folder = add(step.folder, of_folders)) {
                folder->folder = step.folder;
                folder->entries[step.name].insert(file);
            } else {
                failed[step.folder] =
                    unopened.empty() ? reason_of(errno, "fs.inotify.max_user_watches") : unopened;
            }
        // The folder does not tell that a writer goes on with the file.
        if (Watched* const itself = add(file, of_files))
            itself->entries[""].insert(file);
    }
    for (const auto& [former, unused] : watched_)
        if (!now.contains(former))
            ::inotify_rm_watch(inotify_.native_handle(), former); // may be gone with its folder
    watched_ = std::move(now);
    return failed;
}

void FileEvents::stop() noexcept {
    boost::system::error_code ignored;
    inotify_.close(ignored);
    watched_.clear();
}

std::string FileEvents::open() {
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

void FileEvents::await() {
    inotify_.async_wait(
        boost::asio::posix::stream_descriptor::wait_read,
        [this, alive = std::weak_ptr{alive_}](const boost::system::error_code& error) {
            if (error || alive.expired() || !inotify_.is_open())
                return;
            const Events events = read_all();
            await();
            for (const auto& [path, event] : events) {
                happened_(path, event); // it may call stop(), or be the end of this object
                if (alive.expired())
                    return;
            }
        });
}

// Takes the events out of the queue.
FileEvents::Events FileEvents::read_all() {
    constexpr std::size_t some_events = 16UL * 1024;
    alignas(inotify_event) std::array<char, some_events> block{};
    Events events;
    for (;;) {
        const ssize_t read = ::read(inotify_.native_handle(), block.data(), block.size());
        if (read <= 0)
            return events;
        for (std::size_t at = 0; at < static_cast<std::size_t>(read);) {
            inotify_event event{};
            std::memcpy(&event, block.data() + at, sizeof event);
            at += sizeof event;
            const char* const name = block.data() + at; // filled up with zeros
            add_to(events, event, {name, ::strnlen(name, event.len)});
            at += event.len;
        }
    }
}

// Translates an event to events of the files that it is about. Without a name it is about the
// watched folder, or file, itself.
void FileEvents::add_to(Events& events, const inotify_event& event, std::string_view name) const {
    const auto add = [&](const auto& paths, FileEvent what) {
        for (const std::string& path : paths)
            events.emplace_back(path, what);
    };
    if ((event.mask & IN_Q_OVERFLOW) != 0)
        for (const auto& [unused, each] : watched_)
            for (const auto& [entry, paths] : each.entries)
                add(paths, FileEvent::lost);
    const auto watched = watched_.find(event.wd);
    if (watched == watched_.end())
        return;
    const auto& [folder, entries] = watched->second;
    FileEvent what = FileEvent::complete;
    if ((event.mask & (IN_ATTRIB | IN_IGNORED)) != 0)
        what = FileEvent::touched;
    else if ((event.mask & IN_UNMOUNT) != 0)
        what = FileEvent::lost;
    else if ((event.mask & IN_MODIFY) != 0)
        what = FileEvent::written;
    else if ((event.mask & IN_CREATE) != 0 && is_new_file(folder + "/" + std::string{name}))
        what = FileEvent::written;
    for (const auto& [entry, paths] : entries)
        if (name.empty() || name == entry)
            add(paths, what);
}

} // namespace stint::runtime
