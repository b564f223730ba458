// A connection to a real redis-server, where one is installed.
#include "fixture.hpp"
#include "made_certificates.hpp"
#include "net/address.hpp"
#include "redis_process.hpp"
#include "tls/client.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>

using namespace stint::redis;
using namespace stint::redis::test;
using stint::test::RedisProcess;
using stint::test::run_until;
namespace net = stint::net;

namespace {

bool no_server() {
    if (RedisProcess::installed())
        return false;
    MESSAGE("skipped: redis-server is not installed");
    return true;
}

// The server's options for TLS alone, with certificates in a folder.
struct TlsRedis {
    TlsRedis() {
        const stint::tls::Authority authority{"Redis test"};
        (void)authority.issue({.names = {"IP:127.0.0.1"}}).in(folder, "server");
        folder.write("ca.pem", authority.pem());
    }
    [[nodiscard]] std::vector<std::string> options() const {
        return {"--tls-port",         std::to_string(port),
                "--tls-cert-file",    folder.path("server.pem"),
                "--tls-key-file",     folder.path("server.key"),
                "--tls-ca-cert-file", folder.path("ca.pem"),
                "--tls-auth-clients", "no"};
    }
    stint::tls::Folder folder;
    int port = RedisProcess{}.port(); // of one that has gone
};

} // namespace

TEST_CASE("a real server speaks RESP3 and answers in order") {
    if (no_server())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Caller caller{loop};
    SUBCASE("over TCP") {
        caller.connect(server.address());
    }
    SUBCASE("over a Unix socket") {
        caller.connect(server.unix_address());
    }
    caller.await_ready();
    CHECK(caller.connection->protocol() == Protocol::resp3);
    CHECK(caller.ask({"CLIENT", "GETNAME"})->text == "stint");
    for (int i = 1; i <= 1000; ++i)
        caller.send({"INCR", "a"});
    CHECK(caller.await_last()->integer == 1000);
    CHECK(caller.ask({"HGETALL", "none"})->kind == Value::Kind::map);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "verbatim"})->kind == Value::Kind::verbatim);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "double"})->kind == Value::Kind::real);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "bignum"})->kind == Value::Kind::big_number);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "set"})->kind == Value::Kind::set);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "true"})->kind == Value::Kind::boolean);
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "null"})->is_nil());
    CHECK(caller.ask({"DEBUG", "PROTOCOL", "attrib"})->is_text());
    CHECK(caller.ask({"GET", "a", "b"})->is_error());
    CHECK(caller.ask({"COMMAND"})->items.size() > 100);
}

TEST_CASE("a real server's messages come on the connection that subscribed") {
    if (no_server())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Caller subscriber{loop};
    Caller publisher{loop};
    subscriber.connect(server.address());
    publisher.connect(server.address());
    subscriber.await_ready();
    publisher.await_ready();
    bool confirmed = false;
    REQUIRE(subscriber.connection->subscribe("c", [&](const Reply& reply) {
        confirmed = reply.has_value() && reply->items[0].text == "subscribe";
    }));
    CHECK(subscriber.ask({"ECHO", "still answers"})->text == "still answers");
    CHECK(confirmed);
    CHECK(publisher.ask({"PUBLISH", "c", "m"})->integer == 1);
    run_until(loop, [&] { return !subscriber.messages.empty(); });
    CHECK(subscriber.messages[0].items[2].text == "m");
}

TEST_CASE("a real server asks for its password") {
    if (no_server())
        return;
    const RedisProcess server{
        {"--requirepass", "geheim", "--user", "shop", "on", ">wort", "~*", "&*", "+@all"}};
    net::asio::io_context loop;
    Caller caller{loop};
    auto with = settings();
    SUBCASE("none is given") {
        caller.connect(server.address(), with);
        CHECK(caller.await_end().text.starts_with("redis: connect to shop:6379: NOAUTH "));
    }
    SUBCASE("a wrong one") {
        with->login.password = "falsch";
        caller.connect(server.address(), with);
        CHECK(caller.await_end().text.starts_with("redis: connect to shop:6379: WRONGPASS "));
        CHECK(caller.end->text.find("falsch") == std::string::npos);
    }
    SUBCASE("the default user's") {
        with->login.password = "geheim";
        caller.connect(server.address(), with);
        caller.await_ready();
        CHECK(caller.ask({"ACL", "WHOAMI"})->text == "default");
    }
    SUBCASE("a user's") {
        with->login.user = "shop";
        with->login.password = "wort";
        caller.connect(server.address(), with);
        caller.await_ready();
        CHECK(caller.ask({"ACL", "WHOAMI"})->text == "shop");
    }
}

TEST_CASE("a real server over TLS") {
    if (no_server())
        return;
    const TlsRedis tls;
    const RedisProcess server{tls.options()};
    net::asio::io_context loop;
    Caller caller{loop};
    auto with = settings();
    stint::tls::ClientSettings trust;
    std::string reason;
    SUBCASE("that is trusted") {
        trust.ca = tls.folder.path("ca.pem");
    }
    SUBCASE("that nobody knows") {
        trust.ca = tls.folder.write("other.pem", stint::tls::Authority{"Other"}.pem());
        reason = "TLS: it is not signed by a known authority";
    }
    with->tls = *stint::tls::Client::make(trust);
    caller.connect(*net::ip_endpoint("127.0.0.1", static_cast<unsigned short>(tls.port)), with);
    if (!reason.empty()) {
        CHECK(caller.await_end().text == "redis: connect to shop:6379: " + reason);
        return;
    }
    caller.await_ready();
    const std::string large(300'000, 'x');
    for (int i = 0; i < 12; ++i)
        caller.send({"ECHO", large});
    CHECK(caller.await_last()->text == large);
}

TEST_CASE("a TLS connection to a server without TLS says so") {
    if (no_server())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Caller caller{loop};
    auto with = settings();
    stint::tls::ClientSettings lax;
    lax.verify = false;
    with->tls = *stint::tls::Client::make(lax);
    with->connect_timeout = 1s; // the server waits for the rest of what it takes for a command
    caller.connect(server.address(), with);
    CHECK(caller.await_end().kind != Failure::Kind::malformed);
}

TEST_CASE("a real server that is killed under load: each command is answered once") {
    if (no_server())
        return;
    RedisProcess server;
    net::asio::io_context loop;
    Caller caller{loop};
    caller.connect(server.address());
    caller.await_ready();
    const std::string text(10'000, 'x');
    for (int i = 0; i < 300; ++i) {
        caller.send({"SET", "a", text});
        if (i == 150)
            caller.send({"DEBUG", "SLEEP", "60"});
    }
    run_until(loop, [&] { return caller.replies[20].has_value(); });
    server.kill();
    caller.await_end();
    for (const auto& reply : caller.replies)
        CHECK(reply.has_value()); // that it was once, and in order, is checked as they come
    CHECK(caller.replies.back()->has_error());
}

TEST_CASE("a real server that is stopped is noticed") {
    if (no_server())
        return;
    const RedisProcess server;
    net::asio::io_context loop;
    Caller caller{loop};
    auto hasty = settings();
    hasty->ping_after = hasty->reply_timeout = 30ms;
    caller.connect(server.address(), hasty);
    caller.await_ready();
    server.signal(SIGSTOP);
    CHECK(caller.await_end().kind == Failure::Kind::timed_out);
    server.signal(SIGCONT);
}
