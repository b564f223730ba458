// The server behind the proxies under measurement: bench_origin PORT. A GET is answered with as
// many bytes as the last segment of its path says (/anything/1024), a POST with its own body. One
// thread, keep-alive, bodies with a Content-Length only.
#include "body.hpp"
#include "fields.hpp"
#include "loopback.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>

namespace {

using namespace stint::bench;

std::string head(std::string_view status, std::size_t length) {
    return "HTTP/1.1 " + std::string(status) +
           "\r\nServer: origin\r\nContent-Type: text/plain\r\nContent-Length: " +
           std::to_string(length) + "\r\n\r\n";
}

// Answers to GET, each made once.
class Answers {
  public:
    std::string_view of(std::string_view path) {
        const auto size = number(path.substr(path.rfind('/') + 1));
        if (!size)
            return not_found_;
        auto& answer = by_size_[*size];
        if (answer.empty())
            answer = head("200 OK", *size) + body_of(*size);
        return answer;
    }

  private:
    std::map<std::uint64_t, std::string> by_size_;
    std::string not_found_ = head("404 Not Found", 0);
};

class Client {
  public:
    Client(int epoll, int socket, Answers& answers)
        : epoll_(epoll), socket_(socket), answers_(answers) {}
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { ::close(socket_); }

    // False: it is over.
    [[nodiscard]] bool drive() {
        if (!unsent_.empty())
            return send() && (!unsent_.empty() || answer());
        static std::array<char, 256 * 1024> buffer;
        const auto size = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (size < 0 && errno == EAGAIN)
            return true;
        if (size <= 0)
            return false;
        input_.append(buffer.data(), static_cast<std::size_t>(size));
        return answer();
    }

  private:
    // What has come so far, one request after the other, until one is not there as a whole or an
    // answer has not left as a whole.
    bool answer() {
        while (unsent_.empty()) {
            const auto end = input_.find("\r\n\r\n");
            if (end == input_.npos)
                return true;
            const std::string_view request(input_.data(), end + 2);
            const auto body = number(field(request, "content-length")).value_or(0);
            const auto size = end + 4 + body;
            if (input_.size() < size)
                return true;
            const auto path = request.find(' ') + 1;
            if (request.starts_with("POST ")) {
                echo_ = head("200 OK", body).append(input_, end + 4, body);
                unsent_ = echo_;
            } else {
                unsent_ = answers_.of(request.substr(path, request.find(' ', path) - path));
            }
            input_.erase(0, size);
            if (!send())
                return false;
        }
        return true;
    }

    bool send() {
        while (!unsent_.empty()) {
            const auto sent = ::send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EAGAIN)
                break;
            if (sent < 0)
                return false;
            unsent_.remove_prefix(static_cast<std::size_t>(sent));
        }
        // While an answer waits for room nothing is read.
        wait_for(unsent_.empty() ? EPOLLIN : EPOLLOUT);
        return true;
    }

    void wait_for(std::uint32_t events) {
        if (events == events_)
            return;
        epoll_event event{.events = events_ = events, .data = {.fd = socket_}};
        ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_, &event);
    }

    int epoll_;
    int socket_;
    Answers& answers_;
    std::uint32_t events_ = EPOLLIN;
    std::string input_;
    std::string echo_;
    std::string_view unsent_;
};

int listen_on(std::uint16_t port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // those accepted have it, too
    const auto address = loopback(port);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, SOMAXCONN) != 0) {
        std::perror("bench_origin");
        std::exit(1);
    }
    return listener;
}

void serve(int listener) {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    Answers answers;
    std::unordered_map<int, std::unique_ptr<Client>> clients;
    const auto watch = [&](int socket) {
        epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    };
    watch(listener);
    for (std::array<epoll_event, 256> events;;) {
        const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            const int socket = events[static_cast<std::size_t>(i)].data.fd;
            if (socket == listener) {
                const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
                if (accepted < 0)
                    continue;
                clients[accepted] = std::make_unique<Client>(epoll, accepted, answers);
                watch(accepted);
            } else if (!clients.at(socket)->drive()) {
                clients.erase(socket);
            }
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    const auto port = argc == 2 ? number(argv[1]) : std::nullopt;
    if (!port || *port > 65535) {
        std::fputs("usage: bench_origin PORT\n", stderr);
        return 2;
    }
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    serve(listen_on(static_cast<std::uint16_t>(*port)));
}
