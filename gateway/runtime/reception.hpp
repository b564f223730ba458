// Where the life of an accepted connection begins.
#pragma once

#include "net/accept.hpp"
#include "permits/service.hpp"
#include "proxy/context.hpp"
#include "proxy/downstream.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

namespace stint::runtime {

// What is spoken on a listener: requests to be forwarded, or asks for permits.
struct ListenerRole {
    proxy::ListenerOptions proxied;
    bool permits = false;
};

// The place, in `open`, of the worker that shall have the next connection, which was accepted by
// that in `own`: another one only where it has a good deal fewer.
[[nodiscard]] std::size_t
place_of_next(std::span<const std::size_t> open, std::size_t own) noexcept;

// Of one worker. The kernel spreads connections over the workers' sockets by a hash of their
// addresses, so of a few connections that stay, all may come to one of them; the others then take
// some over. Outlives the threads of all workers; used on its own one's but for what is said.
class Reception {
  public:
    Reception(proxy::Context& context, permits::Service& permits) noexcept;

    // All workers' receptions, this one at `own`. Before the workers start.
    void join(std::vector<Reception*> all, std::size_t own);

    // Serves a connection here, or has another worker serve it.
    void take(net::Accepted accepted, const ListenerRole& role) noexcept;

  private:
    [[nodiscard]] Reception& place() noexcept;
    void serve(net::Accepted accepted, const ListenerRole& role) noexcept;
    void begin(net::Accepted accepted, const ListenerRole& role);
    void turn_away(net::Socket socket, const ListenerRole& role);

    proxy::Context& context_;
    permits::Service& permits_;
    std::vector<Reception*> all_;
    std::vector<std::size_t> open_; // scratch: how many each of them has
    std::size_t own_ = 0;
    std::atomic<std::size_t> coming_{0}; // handed to this worker, not begun yet; from any thread
};

} // namespace stint::runtime
