#include "net/send_all.hpp"

namespace stint::net {

Task<ErrorCode> send_all(Socket& socket, Gather gather) {
    ErrorCode error = write_now(socket, gather);
    while (!error && !gather.empty()) {
        auto [failed] = co_await wait_writable(socket);
        error = failed ? failed : write_now(socket, gather);
    }
    co_return error;
}

} // namespace stint::net
