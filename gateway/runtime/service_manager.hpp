// Messages to the service manager that has started the process, such as systemd, and the sockets
// that it hands over (sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3)).
#pragma once

#include "base/descriptor.hpp"
#include "base/time.hpp"
#include "config/load.hpp"
#include "net/inherited_sockets.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace stint::runtime {

// Does nothing where no service manager has set the variables NOTIFY_SOCKET, LISTEN_FDS and
// WATCHDOG_USEC. Messages that cannot be sent are dropped. Used by the control thread alone.
class ServiceManager {
  public:
    // environment: may be empty.
    explicit ServiceManager(const config::Environment& environment);

    // The sockets that the process was started with.
    [[nodiscard]] net::InheritedSockets& sockets() noexcept { return sockets_; }

    // Tells that the process serves: after the start, and after a reload. status: for people.
    void ready(std::string_view status) const noexcept;
    void reloading(SteadyTime now) const noexcept;
    void stopping() const noexcept;
    // Tells that this process is replaced by another one, which serves.
    void replaced_by(pid_t process) const noexcept;
    // Tells that the process is alive; due every watchdog() at least.
    void alive() const noexcept;
    // Returns the time after which a silent process is restarted; zero: never.
    [[nodiscard]] Duration watchdog() const noexcept { return watchdog_; }

  private:
    void send(std::string_view message) const noexcept;

    std::string address_; // the socket for messages; empty: none
    Descriptor socket_;
    Duration watchdog_{};
    net::InheritedSockets sockets_;
};

} // namespace stint::runtime
