// Preloaded into Stint (LD_PRELOAD): some of its writes come late, as on a machine with too much to
// do; and at times the peer has reset a connection between Stint's look at it and its write, a
// moment too short to be met by chance.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace {

constexpr std::uint64_t late_one_in = 16;
constexpr std::uint64_t most_nanoseconds = 2'000'000;
constexpr std::uint64_t reset_one_in = 6;

thread_local int looked_at = -1; // where nothing was to be read, the last time
// By descriptor: whether something was written since something was read. A request's first write
// finds nothing written since the last answer; later ones are not touched, since an answer may be
// under way.
std::array<std::atomic<bool>, 65536> written{};

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::uint64_t below(std::uint64_t bound) {
    thread_local std::uint64_t state = static_cast<std::uint64_t>(::gettid());
    state = state * 6364136223846793005U + 1442695040888963407U; // Knuth's, of MMIX
    return (state >> 33) % bound;
}

void be_late() {
    if (below(late_one_in) != 0)
        return;
    const timespec pause{0, static_cast<long>(below(most_nanoseconds))};
    ::nanosleep(&pause, nullptr);
}

// STINT_UPSTREAM_PORTS: "20001,20002".
bool leads_to_upstream(int socket) {
    static const char* const ports = std::getenv("STINT_UPSTREAM_PORTS");
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (ports == nullptr || ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0)
        return false;
    for (const char* port = ports; port != nullptr; port = std::strchr(port, ',')) {
        port += *port == ',' ? 1 : 0;
        if (std::strtoul(port, nullptr, 10) == ntohs(peer.sin_port))
            return true;
    }
    return false;
}

bool was_reset(int socket) {
    if (socket < 0)
        return false;
    const bool first = !written[static_cast<std::size_t>(socket)].exchange(true);
    if (std::exchange(looked_at, -1) != socket || !first || below(reset_one_in) != 0 ||
        !leads_to_upstream(socket))
        return false;
    ::shutdown(socket, SHUT_RDWR);
    errno = ECONNRESET;
    return true;
}

} // namespace

extern "C" {

ssize_t send(int socket, const void* bytes, size_t size, int flags) {
    static auto* const next = real<decltype(send)>("send");
    be_late();
    return was_reset(socket) ? -1 : next(socket, bytes, size, flags);
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
    static auto* const next = real<decltype(sendmsg)>("sendmsg");
    be_late();
    return was_reset(socket) ? -1 : next(socket, message, flags);
}

ssize_t recv(int socket, void* into, size_t size, int flags) {
    static auto* const next = real<decltype(recv)>("recv");
    const ssize_t got = next(socket, into, size, flags);
    looked_at = got < 0 ? socket : -1;
    if (got > 0)
        written[static_cast<std::size_t>(socket)] = false;
    return got;
}

} // extern "C"
