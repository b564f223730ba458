#include "observe/log_file.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace stint::observe {

namespace {

ErrorCode last_error() noexcept {
    return {errno, boost::system::system_category()};
}

bool is_stream(int descriptor, const struct stat& status) noexcept {
    return S_ISFIFO(status.st_mode) || ::isatty(descriptor) == 1;
}

// Returns true if the file ends in an incomplete line, left by a killed process or a full disk.
bool ends_mid_line(const std::string& path, off_t size) noexcept {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    char last = '\n'; // kept if the file is not readable
    const bool known = ::pread(file.get(), &last, 1, size - 1) == 1;
    return known && last != '\n';
}

// Returns the complete lines that fit into `most` bytes; if the first line does not fit, a part of
// it.
std::string_view whole_lines(std::string_view lines, std::size_t most) noexcept {
    if (lines.size() <= most)
        return lines;
    const std::size_t end = lines.substr(0, most).rfind('\n');
    return lines.substr(0, end == std::string_view::npos ? most : end + 1);
}

bool is_writable(int descriptor) noexcept {
    pollfd poll_set{descriptor, POLLOUT, 0};
    return ::poll(&poll_set, 1, 0) > 0;
}

} // namespace

Result<LogFile> LogFile::open(const AccessLog::Target& target) {
    switch (target.kind) {
    case AccessLog::Target::Kind::standard_output:
        return open_standard_output();
    case AccessLog::Target::Kind::file:
        return open_file(target.path);
    case AccessLog::Target::Kind::off:
        break;
    }
    return ErrorCode{EINVAL, boost::system::system_category()};
}

Result<LogFile> LogFile::open_standard_output() {
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) != 0)
        return last_error();
    if (is_stream(STDOUT_FILENO, status)) {
        // O_NONBLOCK is a flag of the open file description, which other processes may share (a
        // shell's terminal). Opening through /proc makes a new description of the same pipe or
        // terminal.
        Descriptor own{::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
        if (own.get() >= 0)
            return LogFile{std::move(own), Manner::nonblocking, false};
    }
    Descriptor copy{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    if (copy.get() < 0)
        return last_error();
    const Manner manner = S_ISSOCK(status.st_mode)        ? Manner::socket
                          : is_stream(copy.get(), status) ? Manner::polled
                                                          : Manner::plain;
    return LogFile{std::move(copy), manner, false};
}

Result<LogFile> LogFile::open_file(const std::string& path) {
    constexpr mode_t owner_and_group = 0640;
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    Descriptor descriptor{::open(path.c_str(), flags, owner_and_group)};
    if (descriptor.get() < 0)
        return last_error();
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0)
        return last_error();
    LogFile file{std::move(descriptor), Manner::plain, false};
    if (is_stream(file.descriptor(), status))
        file.manner_ = Manner::nonblocking;
    else if (S_ISREG(status.st_mode) && status.st_size > 0)
        file.mid_line_ = ends_mid_line(path, status.st_size);
    return file;
}

LogFile::Written LogFile::write_some(std::string_view lines) noexcept {
    if (manner_ == Manner::nonblocking || manner_ == Manner::polled)
        lines = whole_lines(lines, PIPE_BUF);
    // A pipe that polls as writable has room for PIPE_BUF bytes on Linux (pipe(7)), so the write
    // does not block.
    if (manner_ == Manner::polled && !is_writable(descriptor()))
        return {0, EAGAIN};
    ssize_t written = -1;
    do {
        written = manner_ == Manner::socket
                      ? ::send(descriptor(), lines.data(), lines.size(), MSG_DONTWAIT)
                      : ::write(descriptor(), lines.data(), lines.size());
    } while (written < 0 && errno == EINTR);
    if (written < 0)
        return {0, errno == EWOULDBLOCK ? EAGAIN : errno};
    if (written == 0) // treated as an error, so that it cannot cause a busy loop
        return {0, EIO};
    const auto bytes = static_cast<std::size_t>(written);
    mid_line_ = lines[bytes - 1] != '\n';
    return {bytes, 0};
}

} // namespace stint::observe
