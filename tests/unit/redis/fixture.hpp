// A connection under test with all that it says, to a server that the test plays or to a real one.
#pragma once

#include "redis/connection.hpp"
#include "redis/resp/command.hpp"
#include "resp_text.hpp"
#include "wire.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace stint::redis {

// For doctest, which prints what a check was about.
inline std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    return out << failure.text;
}

} // namespace stint::redis

namespace stint::redis::test {

using namespace std::chrono_literals;
using stint::test::ListeningWire;
using stint::test::Wire;

inline std::string command(const std::vector<std::string_view>& arguments) {
    std::string text;
    write_command(text, arguments);
    return text;
}

// Returns a text as the server sends it.
inline std::string bulk(const std::string& text) {
    std::string made{'$'};
    return made.append(std::to_string(text.size())).append("\r\n").append(text).append("\r\n");
}

// What a server of RESP3 says to the handshake.
inline const std::string hello3 = "%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n+OK\r\n";
// What one says that knows RESP2 alone.
inline const std::string hello2 = "-ERR unknown command `HELLO`\r\n+OK\r\n";

// Patient: a test of a deadline shortens it.
inline std::shared_ptr<ConnectionSettings> settings() {
    auto made = std::make_shared<ConnectionSettings>();
    made->connect_timeout = made->reply_timeout = made->ping_after = 60s;
    return made;
}

struct Caller : Connection::Owner {
    explicit Caller(net::asio::io_context& context) : loop{context} {}

    void connect(
        const net::Endpoint& endpoint,
        std::shared_ptr<const ConnectionSettings> with = settings(),
        const std::string& text = "shop:6379") {
        connection = std::make_unique<Connection>(
            loop.get_executor(), Address{endpoint, text, "127.0.0.1"}, std::move(with), *this);
    }
    void on_ready() override {
        ready = true;
        if (when_ready)
            when_ready();
    }
    void on_push(const Value& message) override {
        messages.push_back(message);
        if (when_pushed)
            when_pushed();
    }
    void on_end(const Failure& why) override {
        CHECK_FALSE(end.has_value());
        end = why;
        if (when_ended)
            when_ended();
    }

    void await_ready() {
        stint::test::run_until(loop, [&] { return ready || end.has_value(); });
        if (end)
            FAIL_CHECK(end->text);
        REQUIRE(ready);
    }
    Failure await_end() {
        stint::test::run_until(loop, [&] { return end.has_value(); });
        return *end;
    }
    // The reply is kept in its place in `replies`.
    void send(const std::vector<std::string_view>& arguments) {
        const std::size_t place = replies.size();
        replies.emplace_back();
        const auto sent = connection->send(command(arguments), [this, place](Reply reply) {
            CHECK_FALSE(replies[place].has_value()); // once
            if (place > 0)
                CHECK(replies[place - 1].has_value()); // in order
            replies[place] = std::move(reply);
        });
        CHECK(sent.has_value());
    }
    Reply ask(const std::vector<std::string_view>& arguments) {
        send(arguments);
        return await_last();
    }
    Reply await_last() {
        const std::size_t place = replies.size() - 1;
        stint::test::run_until(loop, [&] { return replies[place].has_value(); });
        return *replies[place];
    }

    net::asio::io_context& loop;
    std::unique_ptr<Connection> connection;
    bool ready = false;
    std::vector<Value> messages;
    std::optional<Failure> end;
    std::vector<std::optional<Reply>> replies;
    std::function<void()> when_ready;
    std::function<void()> when_pushed;
    std::function<void()> when_ended;
};

// A caller and the far end of its connection, past the handshake.
struct Played {
    explicit Played(
        std::shared_ptr<const ConnectionSettings> with = settings(),
        const std::string& answer = hello3) {
        caller.connect(listening.address(), std::move(with));
        far.emplace(listening.accept());
        far->read_until("SETNAME\r\n$5\r\nstint\r\n");
        far->send(answer);
        caller.await_ready();
    }
    ~Played() {
        caller.connection.reset();
        loop.restart();
        loop.poll();
    }
    // Lets everything happen that can happen without a further event.
    void settle() {
        loop.restart();
        loop.poll();
    }

    net::asio::io_context loop;
    ListeningWire listening{loop};
    Caller caller{loop};
    std::optional<Wire> far;
};

} // namespace stint::redis::test
