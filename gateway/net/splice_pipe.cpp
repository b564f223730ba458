#include "net/splice_pipe.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace stint::net {
namespace {

// The smallest useful size of a pipe. The system makes smaller ones when the user's share of pipes
// is used up: such a pipe moves less at once than a copy does.
constexpr int least_size = 64 * 1024;

ErrorCode error_of_errno() noexcept {
    return {errno, boost::system::system_category()};
}

// True if the error means that the system, or a filter of system calls (seccomp), does not allow
// splice(2) here at all.
bool tells_unsupported(int error) noexcept {
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM;
}

Received splice_now(int from, int to, std::size_t at_most) noexcept {
    for (;;) {
        const ssize_t moved =
            ::splice(from, nullptr, to, nullptr, at_most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (moved > 0)
            return {{}, static_cast<std::size_t>(moved)};
        if (moved == 0)
            return {asio::error::eof};
        if (tells_unsupported(errno))
            return {asio::error::operation_not_supported};
        if (errno != EINTR)
            return {error_of_errno()};
    }
}

} // namespace

Result<SplicePipe> SplicePipe::open() noexcept {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
        return error_of_errno();
    SplicePipe pipe{ends[0], ends[1]};
    if (::fcntl(pipe.in_.get(), F_SETPIPE_SZ, static_cast<int>(capacity)) < 0 &&
        ::fcntl(pipe.in_.get(), F_GETPIPE_SZ) < least_size)
        return ErrorCode{asio::error::no_buffer_space};
    return pipe;
}

Received SplicePipe::fill(Socket& from, std::size_t at_most) noexcept {
    const Received got =
        splice_now(from.native_handle(), in_.get(), std::min(at_most, std::size_t{capacity}));
    bytes_ += got.size;
    return got;
}

Received SplicePipe::drain(Socket& to) noexcept {
    // Splices no more bytes than there are. Otherwise the kernel would expect the rest soon, and
    // hold back the last segment.
    const Received put = splice_now(out_.get(), to.native_handle(), bytes_);
    bytes_ -= put.size;
    return put;
}

Received SplicePipe::copy_out(std::span<char> into) noexcept {
    for (;;) {
        const ssize_t got = ::read(out_.get(), into.data(), into.size());
        if (got >= 0) {
            bytes_ -= static_cast<std::size_t>(got);
            return {{}, static_cast<std::size_t>(got)};
        }
        if (errno != EINTR)
            return {error_of_errno()};
    }
}

Result<SplicePipe> SplicePipes::take() noexcept {
    if (!supported_)
        return ErrorCode{asio::error::operation_not_supported};
    if (kept_.empty())
        return SplicePipe::open();
    SplicePipe pipe = std::move(kept_.back());
    kept_.pop_back();
    fewest_kept_ = std::min(fewest_kept_, kept_.size());
    return pipe;
}

void SplicePipes::keep(SplicePipe pipe) noexcept {
    if (pipe.bytes() > 0 || kept_.size() == most_kept)
        return;
    kept_.push_back(std::move(pipe));
}

void SplicePipes::trim() noexcept {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(fewest_kept_));
    fewest_kept_ = kept_.size();
}

std::size_t SplicePipes::close_kept() noexcept {
    const std::size_t closed = kept_.size();
    kept_.clear();
    fewest_kept_ = 0;
    return closed;
}

} // namespace stint::net
