// Looks up the addresses of a host name without blocking the event loop.
#pragma once

#include "net/types.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stint::net {

// Used on the event loop's thread. Every look-up blocks a thread of its own, so that a dead name
// holds up neither the others nor the end of the process: getaddrinfo(3) cannot be cancelled, and a
// thread that is still in it is left behind.
class NameLookup {
  public:
    struct Answer {
        std::vector<std::string> addresses = {}; // in text, in the resolver's order
        std::string failure = {};                // empty if the look-up succeeded
    };
    // Called on the event loop, once. It may be destroyed on another thread, uncalled, after
    // stop().
    using Done = std::function<void(const Answer&)>;

    explicit NameLookup(asio::io_context& context);
    ~NameLookup();
    NameLookup(const NameLookup&) = delete;
    NameLookup& operator=(const NameLookup&) = delete;

    // Starts a look-up, which calls done() when it ends. If no thread can be started, the answer is
    // a failure.
    void begin(const std::string& name, Done done);
    // After this call no look-up calls its function, except one whose answer was posted to the
    // event loop before.
    void stop();

    // True if a host is a name rather than an address.
    [[nodiscard]] static bool is_name(const std::string& host);

  private:
    struct Mailbox; // takes answers of look-ups; outlives this object during a look-up

    static Answer look_up(const std::string& name);

    std::shared_ptr<Mailbox> mailbox_;
};

} // namespace stint::net
