#include "redis_process.hpp"

#include "base/descriptor.hpp"
#include "net/address.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace stint::test {
namespace {

constexpr const char* redis_program = "/usr/bin/redis-server";

// A port that was free a moment ago.
unsigned short free_port() {
    const Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    net::Endpoint address = *net::ip_endpoint("127.0.0.1", 0);
    auto size = static_cast<socklen_t>(address.size());
    if (::bind(socket.get(), address.data(), size) != 0 ||
        ::getsockname(socket.get(), address.data(), &size) != 0)
        throw std::runtime_error{"no port is free"};
    return ntohs(reinterpret_cast<const sockaddr_in*>(address.data())->sin_port);
}

bool answers(const net::Endpoint& address) {
    const Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return ::connect(socket.get(), address.data(), static_cast<socklen_t>(address.size())) == 0;
}

[[noreturn]] void become(std::vector<std::string>& arguments) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int each : {0, 1, 2})
        ::dup2(nowhere, each);
    std::vector<char*> pointers;
    for (std::string& argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(redis_program, pointers.data());
    ::_exit(127);
}

} // namespace

RedisProcess::RedisProcess(std::vector<std::string> options)
    : options_{std::move(options)}, port_{free_port()} {
    start();
}

RedisProcess::~RedisProcess() {
    kill();
}

bool RedisProcess::installed() {
    return ::access(redis_program, X_OK) == 0;
}

net::Endpoint RedisProcess::address() const {
    return *net::ip_endpoint("127.0.0.1", port_);
}

net::Endpoint RedisProcess::unix_address() const {
    return *net::unix_endpoint(folder_.file("redis.sock"));
}

void RedisProcess::signal(int number) const noexcept {
    ::kill(process_, number);
}

void RedisProcess::kill() noexcept {
    if (process_ < 0)
        return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, -1), nullptr, 0);
    ::unlink(folder_.file("redis.sock").c_str());
}

void RedisProcess::start() {
    std::vector<std::string> arguments{
        "redis-server",
        "--port",
        std::to_string(port_),
        "--bind",
        "127.0.0.1",
        "--unixsocket",
        folder_.file("redis.sock"),
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        folder_.path().string(),
        "--enable-debug-command",
        "yes"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    // Another process's connection may have one of the ports for a moment: then the server ends.
    constexpr int pauses_after_an_end = 20;
    for (int tries = 0, starts = 1; tries < 2000; ++tries) {
        if (process_ < 0 && (process_ = ::fork()) == 0)
            become(arguments);
        if (answers(unix_address())) // its Unix socket comes last
            return;
        if (::waitpid(process_, nullptr, WNOHANG) == process_) {
            process_ = -1;
            if (++starts > 10)
                break;
            std::this_thread::sleep_for(pauses_after_an_end * std::chrono::milliseconds{5});
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    throw std::runtime_error{"redis-server has not started"};
}

} // namespace stint::test
