// A store's client with all that it says.
#pragma once

#include "fixture.hpp"
#include "net/address.hpp"
#include "redis/store_client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stint::redis::test {

// Quick where the tests break things, and patient with replies.
inline LinkSettings quick(std::shared_ptr<const ConnectionSettings> connection = settings()) {
    return {std::move(connection), 1ms, 5ms};
}

struct Store : StoreClient::Watcher {
    explicit Store(net::asio::io_context& context) : loop{context} {}

    void open_at(std::unique_ptr<AddressSource> addresses, LinkSettings with = quick()) {
        client = std::make_unique<StoreClient>(
            loop.get_executor(), std::move(with), std::move(addresses), script, *this);
    }
    void open(const net::Endpoint& endpoint, LinkSettings with = quick()) {
        open_at(
            std::make_unique<FixedAddress>(
                loop.get_executor(), Address{endpoint, "shop:6379", "127.0.0.1"}),
            std::move(with));
    }
    void on_up(const ServerFacts& facts) override {
        ++ups;
        last_facts = facts;
    }
    void on_down(const Failure& why) override {
        ++downs;
        last_down = why;
    }
    void await_up() {
        stint::test::run_until(loop, [&] { return client->up(); });
    }
    void await_down() {
        stint::test::run_until(loop, [&] { return !client->up(); });
    }

    // The answer is kept in its place in `answers`.
    void call(std::vector<std::string_view> keys, std::vector<std::string_view> arguments) {
        const std::size_t place = answers.size();
        answers.emplace_back();
        ++waiting;
        client->call(keys, arguments, [this, place](Reply reply) {
            CHECK_FALSE(answers[place].has_value()); // once
            answers[place] = std::move(reply);
            --waiting;
        });
        CHECK_FALSE(answers[place].has_value()); // not from within the call
    }
    Reply ask(std::vector<std::string_view> keys, std::vector<std::string_view> arguments) {
        call(std::move(keys), std::move(arguments));
        await_all();
        return *answers.back();
    }
    void await_all() {
        stint::test::run_until(loop, [&] { return waiting == 0; });
    }

    net::asio::io_context& loop;
    std::string script = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
    int ups = 0;
    int downs = 0;
    ServerFacts last_facts;
    Failure last_down;
    std::vector<std::optional<Reply>> answers;
    int waiting = 0;
    std::unique_ptr<StoreClient> client; // goes first
};

inline const std::string sha(40, 'a');

// A server that a test plays: answers what a client says when it comes up.
struct PlayedStore {
    explicit PlayedStore(const std::string& says_hello = hello3) : hello{says_hello} {}

    Wire accept(const std::string& loaded = "$40\r\n" + sha + "\r\n") {
        Wire far = listening.accept();
        far.read_until("SETNAME\r\n$5\r\nstint\r\n");
        far.send(hello);
        set_up(far, loaded);
        return far;
    }
    void set_up(Wire& far, const std::string& loaded) {
        far.read_until("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$3\r\nlua\r\n");
        far.send(info);
        far.send("-NOPERM no CONFIG\r\n" + loaded);
    }
    Wire open() {
        store.script = "lua";
        store.open(listening.address());
        Wire far = accept();
        store.await_up();
        return far;
    }
    void settle() {
        loop.restart();
        loop.poll();
    }

    net::asio::io_context loop;
    ListeningWire listening{loop};
    std::string hello;
    std::string info = "$36\r\nrole:master\r\nmaster_replid:one\r\nx:yz\r\n";
    Store store{loop};
};

} // namespace stint::redis::test
