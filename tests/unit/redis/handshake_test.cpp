#include "redis/failure.hpp"
#include "redis/handshake.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace stint::redis;

namespace {

const Value ok{.kind = Value::Kind::simple, .text = "OK"};

Value error(std::string text) {
    return {.kind = Value::Kind::error, .text = std::move(text)};
}

Value hello(std::int64_t proto) {
    Value map{.kind = proto == 3 ? Value::Kind::map : Value::Kind::array};
    map.items = {
        {.kind = Value::Kind::bulk, .text = "proto"},
        {.kind = Value::Kind::integer, .integer = proto}};
    return map;
}

struct Shaken {
    Handshake::Status status = Handshake::Status::goes_on;
    std::size_t replies = 0; // taken
    Protocol protocol{};
    std::string refusal;
};

Shaken shake(const Login& login, const std::vector<Value>& replies) {
    Handshake handshake{login};
    Shaken shaken;
    for (const Value& reply : replies) {
        REQUIRE(shaken.status == Handshake::Status::goes_on);
        shaken.status = handshake.take(reply);
        ++shaken.replies;
    }
    shaken.protocol = handshake.protocol();
    shaken.refusal = handshake.refusal();
    return shaken;
}

} // namespace

TEST_CASE("a handshake logs in, asks for RESP3 and gives the connection a name") {
    std::string out;
    SUBCASE("without a password") {
        const Login login{.user = "ignored", .client_name = "a"};
        Handshake{login}.write(out);
        CHECK(
            out == "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"
                   "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$1\r\na\r\n");
    }
    SUBCASE("with a password") {
        const Login login{.password = "pw"};
        Handshake{login}.write(out);
        CHECK(out.starts_with("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*2\r\n$5\r\nHELLO"));
    }
    SUBCASE("with a user") {
        const Login login{.user = "u", .password = "pw"};
        Handshake{login}.write(out);
        CHECK(out.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$2\r\npw\r\n*2\r\n$5\r\nHELLO"));
    }
}

TEST_CASE("a handshake's end") {
    const Login login{};
    CHECK(shake(login, {hello(3), ok}).status == Handshake::Status::done);
    CHECK(shake(login, {hello(3), ok}).protocol == Protocol::resp3);
    CHECK(shake(login, {hello(2), ok}).protocol == Protocol::resp2);
    CHECK(
        shake(login, {hello(3), error("ERR unknown subcommand")}).status ==
        Handshake::Status::done);
    for (const char* unknown :
         {"ERR unknown command `HELLO`, with args beginning with: `3`",
          "NOPROTO unsupported protocol version", "ERR unsupported command 'HELLO'"}) {
        CAPTURE(unknown);
        const Shaken shaken = shake(login, {error(unknown), ok});
        CHECK(shaken.status == Handshake::Status::done);
        CHECK(shaken.protocol == Protocol::resp2);
    }
    for (const char* refused :
         {"NOAUTH HELLO must be called with the client already authenticated",
          "ERR max number of clients reached", "DENIED Redis is running in protected mode"}) {
        const Shaken shaken = shake(login, {error(refused)});
        CHECK(shaken.status == Handshake::Status::refused);
        CHECK(shaken.refusal == refused);
    }
    // An old server that wants a password.
    CHECK(
        shake(
            login, {error("ERR unknown command `HELLO`"), error("NOAUTH Authentication required.")})
            .status == Handshake::Status::refused);
}

TEST_CASE("a refused password is not repeated") {
    const Login login{.user = "u", .password = "geheim"};
    CHECK(shake(login, {ok, hello(3), ok}).status == Handshake::Status::done);
    CHECK(
        shake(login, {error("WRONGPASS invalid username-password pair")}).refusal ==
        "WRONGPASS invalid username-password pair");
    CHECK(
        shake(
            login, {error("ERR unknown command `AUTH`, with args beginning with: `u`, `geheim`, "
                          "geheim")})
            .refusal == "ERR unknown command `AUTH`, with args beginning with: `u`, `***`, ***");
}

TEST_CASE("a server's words are shown as text of one line, and not all of them") {
    CHECK(printable("ERR a\r\n\x1b[31mb\xff") == "ERR a???[31mb?");
    CHECK(printable(std::string(1000, 'a')).size() == 200);
}
