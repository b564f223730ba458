// TLS on a socket whose other end is bytes: what arrives together, what comes in parts, and what is
// no TLS at all.
#include "net/io.hpp"
#include "net/tls_session.hpp"
#include "sealed_end.hpp"
#include "socket_pair.hpp"
#include "tls/client.hpp"
#include "tls/server.hpp"
#include "tls_end.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace stint;
using namespace stint::net;

test::SealedEnd new_client() {
    return test::SealedEnd{test::tls_client()->connect("127.0.0.1")};
}

// A server's end, through with its handshake.
struct Session : test::SocketPair {
    Session() {
        send(client.take());
        REQUIRE(tls.handshake() == asio::error::would_block);
        send(client.take(take()));
        REQUIRE_FALSE(tls.handshake());
        take(); // tickets
    }

    std::string read(ErrorCode& error) {
        std::string text(100, '\0');
        const Received got = tls.read(text);
        error = got.error;
        text.resize(got.size);
        return text;
    }

    test::SealedEnd client = new_client();
    TlsSession tls{near, test::tls_server()->accept(), {}};
};

constexpr std::string_view options = "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

TEST_CASE("a request in plain HTTP is known by its first byte, wherever it is cut") {
    bool before = false;
    SUBCASE("read from the socket") {}
    SUBCASE("received before TLS began") {
        before = true;
    }
    for (std::size_t cut = 1; cut <= options.size(); ++cut) {
        CAPTURE(cut);
        test::SocketPair ends;
        const std::string_view first = options.substr(0, cut);
        TlsSession tls{
            ends.near, test::tls_server()->accept(), before ? first : std::string_view{}};
        if (!before) {
            CHECK(tls.handshake() == asio::error::would_block);
            ends.send(first);
        }

        const ErrorCode error = tls.handshake();

        CHECK(error);
        CHECK(error != asio::error::would_block);
        CHECK(tls.met_plain_http());
        CHECK(tls::reason_of_failure(tls.ssl(), "") == "it does not speak TLS");
        CHECK(ends.take().empty()); // no alert: the answer is to be in plain HTTP, too
    }
}

TEST_CASE("what is neither TLS nor begins as a request does is no plain HTTP") {
    std::string_view garbage;
    SUBCASE("another protocol") {
        garbage = "220 mail.example ESMTP\r\n";
    }
    SUBCASE("empty lines") {
        garbage = "\r\n\r\n\r\n";
    }
    SUBCASE("bytes") {
        garbage = "\x80\xC1\xFE\x80\xC1\xFE\x80\xC1\xFE";
    }
    test::SocketPair ends;
    TlsSession tls{ends.near, test::tls_server()->accept(), {}};
    ends.send(garbage);

    const ErrorCode error = tls.handshake();

    CHECK(error);
    CHECK(error != asio::error::would_block);
    CHECK_FALSE(tls.met_plain_http());
    CHECK(tls::reason_of_failure(tls.ssl(), "") == "it does not speak TLS");
}

TEST_CASE("a client's hello is TLS, wherever it is cut") {
    const std::string hello = new_client().take();
    for (std::size_t cut = 1; cut <= hello.size(); ++cut) {
        CAPTURE(cut);
        test::SocketPair ends;
        TlsSession tls{ends.near, test::tls_server()->accept(), {}};
        ends.send(std::string_view{hello}.substr(0, cut));
        CHECK(tls.handshake() == asio::error::would_block);
        CHECK(ends.take().empty() == (cut < hello.size()));
        if (cut < hello.size())
            ends.send(std::string_view{hello}.substr(cut));
        CHECK(tls.handshake() == asio::error::would_block); // for the rest of the handshake
        CHECK_FALSE(tls.met_plain_http());
    }
}

TEST_CASE("a part of a record is nothing to read yet, wherever it is cut") {
    Session session;
    std::string record = session.client.seal("whole");
    for (std::size_t cut = 1; cut < record.size(); ++cut) {
        CAPTURE(cut);
        ErrorCode error;

        session.send(record.substr(0, cut));
        CHECK(session.read(error).empty());
        CHECK(error == asio::error::would_block);

        session.send(record.substr(cut));
        CHECK(session.read(error) == "whole");
        CHECK_FALSE(error);
        record = session.client.seal("whole");
    }
}

TEST_CASE("the end that arrives together with the last bytes comes after them") {
    Session session;
    ErrorCode error;
    const std::string last = session.client.seal("the last");
    session.send(last + session.client.seal_end());

    CHECK(session.read(error) == "the last");
    CHECK_FALSE(error);
    CHECK(session.tls.has_buffered()); // no wait on the socket would tell
    CHECK(session.read(error).empty());
    CHECK(error == asio::error::eof);
}

TEST_CASE("a stream that ends without TLS's own end was cut") {
    Session session;
    ErrorCode error;
    std::string_view expected = "the last";
    SUBCASE("after a record") {
        session.send(session.client.seal("the last"));
    }
    SUBCASE("within a record") {
        expected = "";
        const std::string record = session.client.seal("the last");
        session.send(record.substr(0, record.size() - 1));
    }
    close(session.far);

    std::string got = session.read(error);
    if (!error)
        got += session.read(error);

    CHECK(got == expected);
    CHECK(error == asio::error::connection_reset);
    CHECK(session.tls.probe() == SocketState::closed);
}
