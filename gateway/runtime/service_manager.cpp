#include "runtime/service_manager.hpp"

#include <spdlog/spdlog.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace stint::runtime {
namespace {

constexpr int first_socket = 3;
constexpr std::uint64_t most_sockets = 1024;

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
    if (!text)
        return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    const bool whole = error == std::errc{} && end == text->data() + text->size();
    return whole ? std::optional{number} : std::nullopt;
}

// The variables may be another process', which has passed them on.
bool is_for_this_process(const std::optional<std::string>& process) {
    return number_in(process) == static_cast<std::uint64_t>(::getpid());
}

net::InheritedSockets inherited(const config::Environment& environment) {
    const auto count = number_in(environment("LISTEN_FDS"));
    if (!count || *count == 0 || !is_for_this_process(environment("LISTEN_PID")))
        return {};
    if (*count > most_sockets) {
        spdlog::warn("LISTEN_FDS is {}: more than {} sockets are not taken", *count, most_sockets);
        return {};
    }
    return {first_socket, static_cast<std::size_t>(*count)};
}

Duration watchdog_of(const config::Environment& environment) {
    const auto length = number_in(environment("WATCHDOG_USEC"));
    const auto process = environment("WATCHDOG_PID");
    if (!length || (process && !is_for_this_process(process)))
        return {};
    constexpr std::uint64_t longest = 86'400'000'000; // a day
    return std::chrono::microseconds{std::min(*length, longest)};
}

} // namespace

ServiceManager::ServiceManager(const config::Environment& environment) {
    if (!environment)
        return;
    sockets_ = inherited(environment);
    watchdog_ = watchdog_of(environment);
    const std::string address = environment("NOTIFY_SOCKET").value_or("");
    if (address.size() < 2 || (address.front() != '/' && address.front() != '@'))
        return;
    if (address.size() >= sizeof(sockaddr_un::sun_path)) {
        spdlog::warn("NOTIFY_SOCKET is longer than a socket's address");
        return;
    }
    socket_ = Descriptor{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    address_ = address;
}

void ServiceManager::send(std::string_view message) const noexcept {
    if (address_.empty())
        return;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (to.sun_path[0] == '@') // an abstract address
        to.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    (void)::sendto(
        socket_.get(), message.data(), message.size(), MSG_NOSIGNAL,
        reinterpret_cast<const sockaddr*>(&to), size);
}

void ServiceManager::ready(std::string_view status) const noexcept try {
    send("READY=1\nSTATUS=" + std::string{status} + "\n");
} catch (const std::bad_alloc&) {
    send("READY=1\n");
}

void ServiceManager::reloading(SteadyTime now) const noexcept try {
    const auto at =
        std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(at) + "\n");
} catch (const std::bad_alloc&) { // READY follows anyway
}

void ServiceManager::replaced_by(pid_t process) const noexcept try {
    send("MAINPID=" + std::to_string(process) + "\n");
} catch (const std::bad_alloc&) { // it sees the former process end
}

void ServiceManager::stopping() const noexcept {
    send("STOPPING=1\n");
}

void ServiceManager::alive() const noexcept {
    send("WATCHDOG=1\n");
}

} // namespace stint::runtime
