// A socket under test, and its other end as bytes.
#pragma once

#include "net/types.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <sys/socket.h>

namespace stint::test {

struct SocketPair {
    SocketPair() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        near.assign(net::Protocol{AF_UNIX, 0}, ends[0]);
        far.assign(net::Protocol{AF_UNIX, 0}, ends[1]);
    }

    // Into the far end, and out of it.
    void send(std::string_view bytes) {
        const ssize_t sent = ::send(far.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
    }
    std::string take() {
        std::string text(1 << 20, '\0');
        const ssize_t got = ::recv(far.native_handle(), text.data(), text.size(), MSG_DONTWAIT);
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }

    net::asio::io_context context;
    net::Socket near{context.get_executor()};
    net::Socket far{context.get_executor()};
};

} // namespace stint::test
