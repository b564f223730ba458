#include "net/end_events.hpp"

#include <cerrno>
#include <cstdint>
#include <sys/epoll.h>

namespace stint::net {

bool EndEvents::watch(int socket, void* whom, bool or_closed) noexcept {
    if (epoll_.get() < 0)
        epoll_ = Descriptor{::epoll_create1(EPOLL_CLOEXEC)};
    epoll_event event{}; // EPOLLERR and EPOLLHUP are always included
    event.events = EPOLLET | (or_closed ? std::uint32_t{EPOLLRDHUP} : 0U);
    event.data.ptr = whom;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0)
        return true;
    // Watched already: EPOLL_CTL_MOD reports again what has happened since.
    return errno == EEXIST && ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event) == 0;
}

void EndEvents::forget(int socket) noexcept {
    if (epoll_.get() >= 0)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

void* EndEvents::next() noexcept {
    epoll_event event{};
    if (epoll_.get() < 0 || ::epoll_wait(epoll_.get(), &event, 1, 0) <= 0)
        return nullptr;
    return event.data.ptr;
}

} // namespace stint::net
