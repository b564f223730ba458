// A client's connection, which has at most one request in flight. Non-blocking; epoll says when to
// go on.
#pragma once

#include "answer.hpp"

#include <cstdint>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>

namespace stint::bench {

class Connection {
  public:
    enum class Step { waiting, answered, failed };

    // number: what epoll's events carry for it.
    Connection(int epoll, std::uint32_t number) : epoll_(epoll), number_(number) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&&) = delete;
    ~Connection() { close(); }

    // Connects, unless it is connected. from: an address to connect from, 0 for the kernel's
    // choice.
    [[nodiscard]] bool open(const sockaddr_in& server, const std::optional<sockaddr_in>& from);
    // Sends the request, which must stay as it is until it was answered or has failed.
    [[nodiscard]] Step send(std::string_view request);
    // After an event of epoll. One that is closed by the server while idle is closed, and waits.
    [[nodiscard]] Step drive();
    void close() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return socket_ >= 0; }
    [[nodiscard]] const Answer& answer() const noexcept { return answer_; }

    std::int64_t due = 0; // when its request should have been sent, in nanoseconds
    std::string own;      // its request, where each differs

  private:
    enum class State { idle, connecting, sending, reading };

    Step connected();
    Step go_on_sending();
    Step read();
    void listen_for(std::uint32_t events);

    int epoll_;
    std::uint32_t number_;
    int socket_ = -1;
    State state_ = State::idle;
    std::uint32_t events_ = 0;
    std::string_view unsent_;
    Answer answer_;
};

} // namespace stint::bench
