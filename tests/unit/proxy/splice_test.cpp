// Answers so large that the kernel moves them. Over TLS the same must hold of copies.
#include "fixture.hpp"
#include "net/clock.hpp"
#include "no_descriptors.hpp"
#include "server/http1_connection.hpp"
#include "tls_end.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <string>

using namespace stint;
using namespace stint::test;

namespace {

constexpr std::size_t large = 5'000'003;

std::string body_of(std::size_t size) {
    std::string body(size, ' ');
    for (std::size_t i = 0; i < size; ++i)
        body[i] = static_cast<char>('a' + i * 7919 % 26);
    return body;
}

struct Large {
    // The answer's head and the first bytes of its body have reached the client.
    explicit Large(std::string_view request = get, std::string_view framing = length) {
        client.send(request);
        upstream = gateway.upstream.accept();
        upstream.read_head();
        upstream.send(std::string{"HTTP/1.1 200 OK\r\n"}.append(framing).append("\r\n"));
        upstream.send(std::string_view{body}.substr(0, begun));
        client.read_head();
        CHECK(client.read(begun) == body.substr(0, begun));
    }

    [[nodiscard]] std::string_view rest() const { return std::string_view{body}.substr(begun); }
    // Sends more than the client, which does not read, and everything between takes.
    std::size_t fill_up() {
        std::size_t sent = 0;
        for (std::size_t more = 1; more > 0; gateway.settle()) {
            more = upstream.send_some(rest().substr(sent));
            sent += more;
        }
        return sent;
    }
    void check_ended(Outcome outcome, std::uint64_t bytes) {
        gateway.run_until([&] { return gateway.ended(outcome, 2) > 0; });
        CHECK(gateway.context().counters.routes[1].bytes_out >= bytes);
    }

    static constexpr std::size_t begun = 10;
    static constexpr std::string_view length = "Content-Length: 5000003\r\n";
    const std::string body = body_of(large);
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    Wire upstream{gateway.loop(), {}};
};

std::size_t pipes_of(Large& answer) {
    return answer.gateway.context().splice_pipes.kept();
}

} // namespace

TEST_CASE("a large answer arrives whole, and both connections go on") {
    Large answer;
    answer.upstream.send(answer.rest());

    CHECK(answer.client.read(answer.rest().size()) == answer.rest());
    answer.gateway.settle();
    CHECK(pipes_of(answer) == (over_tls() ? 0 : 1));
    for (int second = 0; second < 2; ++second)
        answer.gateway.context().sweep(net::read_steady_clock());
    CHECK(pipes_of(answer) == 0);
    answer.client.send(get);
    answer.upstream.read_head();
    answer.upstream.send(ok);
    CHECK(read_response(answer.client).ends_with("hi"));
    answer.check_ended(Outcome::forwarded, large);
}

TEST_CASE("an answer that comes in drops arrives drop by drop") {
    Large answer;
    std::size_t at = 0;
    for (const std::size_t size : {1U, 100U, 1U, 70'000U, 3U}) {
        answer.upstream.send(answer.rest().substr(at, size));
        CHECK(answer.client.read(size) == answer.rest().substr(at, size));
        at += size;
    }
}

TEST_CASE("what comes behind a large answer reaches nobody") {
    Large answer;
    answer.upstream.send(answer.rest());
    answer.upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    CHECK(answer.client.read(answer.rest().size()) == answer.rest());
    answer.gateway.settle();

    answer.client.send(get);
    Wire other = answer.gateway.upstream.accept();
    other.read_head();
    other.send(ok);
    CHECK(read_response(answer.client).ends_with("hi"));
}

TEST_CASE("a large answer that is delimited by close ends with the stream") {
    constexpr std::string_view old = "GET / HTTP/1.0\r\nHost: a\r\n\r\n";
    Large answer{old, ""};
    answer.upstream.send(answer.rest());
    answer.upstream.close();

    CHECK(answer.client.read_to_end() == answer.rest());
    answer.check_ended(Outcome::forwarded, large);
}

TEST_CASE("an upstream that breaks off in a large answer resets its client") {
    Large answer;
    answer.upstream.send(answer.rest().substr(0, 1'000'000));
    CHECK(answer.client.read(1'000'000) == answer.rest().substr(0, 1'000'000));
    SUBCASE("closes") {
        answer.upstream.close();
    }
    SUBCASE("resets") {
        answer.upstream.reset();
    }

    CHECK(answer.client.read_to_end().empty());
    answer.check_ended(Outcome::upstream_failed, 1'000'000);
}

TEST_CASE("an upstream that falls silent in a large answer is not waited for without end") {
    Large answer;
    answer.gateway.settle();
    answer.gateway.pass(1h);

    CHECK(answer.client.read_to_end().empty());
    answer.check_ended(Outcome::upstream_failed, Large::begun);
    answer.upstream.wait_closed();
}

TEST_CASE(
    "a client that does not read a large answer makes the upstream wait, then gets the rest") {
    Large answer;
    const std::size_t sent = answer.fill_up();
    if (sent == answer.rest().size())
        return; // buffers here are so large that nobody waits

    const std::string first = answer.client.read(sent);
    CHECK(first == answer.rest().substr(0, sent));
    answer.upstream.send(answer.rest().substr(sent));
    CHECK(answer.client.read(answer.rest().size() - sent) == answer.rest().substr(sent));
    answer.check_ended(Outcome::forwarded, large);
}

TEST_CASE("a client that goes while bytes for it are in the pipe takes no pipe with it") {
    Large answer;
    answer.fill_up();
    SUBCASE("resets") {
        answer.client.reset();
    }
    SUBCASE("closes") {
        answer.client.close();
    }
    SUBCASE("never reads again") {
        answer.gateway.pass(1h);
    }

    answer.check_ended(Outcome::client_gone, Large::begun);
    answer.upstream.wait_closed();
}

TEST_CASE("without a descriptor for a pipe a large answer is copied") {
    InProcessGateway gateway{plain};
    Wire client = gateway.connect();
    client.send(get);
    Wire upstream = gateway.upstream.accept();
    upstream.read_head();
    const std::string body = body_of(large);

    const NoDescriptors none;
    upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 5000003\r\n\r\n");
    client.read_head();
    upstream.send(body);

    CHECK(client.read(large) == body);
    gateway.settle();
    CHECK(gateway.context().splice_pipes.kept() == 0);
    CHECK(gateway.pooled() == 1);
}

TEST_CASE("where the system does not splice, large answers are copied") {
    Large answer;
    SUBCASE("known before") {
        answer.gateway.context().splice_pipes.give_up();
        answer.client.send(get); // the next one; this one has begun
        answer.upstream.send(answer.rest());
        CHECK(answer.client.read(answer.rest().size()) == answer.rest());
        answer.upstream.read_head();
        answer.upstream.send(std::string{"HTTP/1.1 200 OK\r\n"}.append(Large::length) + "\r\n");
        answer.upstream.send(answer.body);
        answer.client.read_head();
        CHECK(answer.client.read(large) == answer.body);
    }
    SUBCASE("found out with bytes in the pipe") {
        // Nothing is spliced to what is appended to.
        net::Socket& socket = answer.gateway.context().connections.front().io().socket();
        ::fcntl(socket.native_handle(), F_SETFL, O_APPEND | O_NONBLOCK);
        answer.upstream.send(answer.rest());
        CHECK(answer.client.read(answer.rest().size()) == answer.rest());
    }
    CHECK(answer.gateway.ended(Outcome::upstream_failed, 2) == 0);
}
