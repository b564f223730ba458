// A real redis-server of a test's own, on a port of loopback and on a Unix socket.
#pragma once

#include "net/types.hpp"
#include "temp_folder.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace stint::test {

class RedisProcess {
  public:
    // Starts the server and waits until it answers. options: "--requirepass", "secret" ...
    explicit RedisProcess(std::vector<std::string> options = {});
    ~RedisProcess();
    RedisProcess(const RedisProcess&) = delete;
    RedisProcess& operator=(const RedisProcess&) = delete;

    [[nodiscard]] static bool installed();

    [[nodiscard]] net::Endpoint address() const;
    [[nodiscard]] net::Endpoint unix_address() const;
    [[nodiscard]] unsigned short port() const noexcept { return port_; }
    [[nodiscard]] const TempFolder& folder() const noexcept { return folder_; }

    void signal(int number) const noexcept; // SIGSTOP, SIGCONT
    void kill() noexcept;                   // -9; the port refuses from then on
    void start();                           // again, on the same port, empty

  private:
    TempFolder folder_;
    std::vector<std::string> options_;
    unsigned short port_;
    pid_t process_ = -1;
};

} // namespace stint::test
