// The first commands of a connection: AUTH, HELLO 3, CLIENT SETNAME, in one write. No I/O.
#pragma once

#include "redis/resp/value.hpp"

#include <cstdint>
#include <string>

namespace stint::redis {

// A login, and the name that the server's list of clients shows.
struct Login {
    std::string user = {};             // empty: the server's default user
    std::string password = {};         // empty: no AUTH
    std::string client_name = "stint"; // without spaces
};

enum class Protocol : std::uint8_t { resp2, resp3 };

class Handshake {
  public:
    enum class Status : std::uint8_t { goes_on, done, refused };

    // login: must outlive this object.
    explicit Handshake(const Login& login);

    // Appends the commands.
    void write(std::string& out) const;

    // Takes the reply to the next of them. A server without HELLO, or without RESP3, speaks RESP2.
    [[nodiscard]] Status take(const Value& reply);

    [[nodiscard]] Protocol protocol() const noexcept { return protocol_; }
    // Returns the server's words, after `refused`: "WRONGPASS invalid username-password pair". The
    // password is not in it, whatever the server said.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  private:
    enum class Step : std::uint8_t { auth, hello, name, over };

    [[nodiscard]] Status refuse(const Value& reply);
    [[nodiscard]] Status on_hello(const Value& reply);

    const Login& login_;
    Step next_;
    Protocol protocol_ = Protocol::resp2;
    std::string refusal_;
};

} // namespace stint::redis
