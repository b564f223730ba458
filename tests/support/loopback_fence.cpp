#include "loopback_fence.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <system_error>

namespace stint::test {
namespace {

void require(bool done, const char* what) {
    if (!done)
        throw std::system_error{errno, std::generic_category(), what};
}

} // namespace

LoopbackFence::LoopbackFence() : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
    require(socket_.get() >= 0, "socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    socklen_t size = sizeof at;
    require(::bind(socket_.get(), address, size) == 0, "bind");
    require(::getsockname(socket_.get(), address, &size) == 0, "getsockname");
    require(::connect(socket_.get(), address, size) == 0, "connect"); // to itself
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &here);
    require(::sched_getaffinity(0, sizeof former_, &former_) == 0, "sched_getaffinity");
    require(::sched_setaffinity(0, sizeof here, &here) == 0, "sched_setaffinity");
}

LoopbackFence::~LoopbackFence() {
    (void)::sched_setaffinity(0, sizeof former_, &former_);
}

void LoopbackFence::wait() {
    char byte = 0;
    require(::send(socket_.get(), &byte, 1, 0) == 1, "send");
    require(::recv(socket_.get(), &byte, 1, 0) == 1, "recv");
}

} // namespace stint::test
