// Preloaded into Stint (LD_PRELOAD): some of its writes come late, as on a machine with too much to
// do. So what is true when Stint looks at a connection, that it is open, is at times no longer true
// when it writes.
#include <cstdint>
#include <ctime>
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t one_in = 16;
constexpr std::uint64_t most_nanoseconds = 2'000'000;

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void be_late() {
    thread_local std::uint64_t state = static_cast<std::uint64_t>(::gettid());
    state = state * 6364136223846793005U + 1442695040888963407U; // Knuth's, of MMIX
    if ((state >> 33) % one_in != 0)
        return;
    const timespec pause{0, static_cast<long>((state >> 20) % most_nanoseconds)};
    ::nanosleep(&pause, nullptr);
}

} // namespace

extern "C" {

ssize_t send(int socket, const void* bytes, size_t size, int flags) {
    static auto* const next = real<decltype(send)>("send");
    be_late();
    return next(socket, bytes, size, flags);
}

ssize_t sendmsg(int socket, const msghdr* message, int flags) {
    static auto* const next = real<decltype(sendmsg)>("sendmsg");
    be_late();
    return next(socket, message, flags);
}

} // extern "C"
