#include "redis/handshake.hpp"

#include "redis/failure.hpp"
#include "redis/resp/command.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace stint::redis {
namespace {

// True where the server does not know the command or the protocol: "ERR unknown command 'HELLO'",
// "NOPROTO unsupported protocol version".
bool knows_no_hello(const Value& error) {
    const std::string_view code = code_of(error.text);
    return code == "NOPROTO" || (code == "ERR" && error.text.find("command") != std::string::npos);
}

// Old servers repeat the arguments of a command that they do not know.
std::string without(std::string text, const std::string& secret) {
    constexpr std::string_view mask = "***";
    if (secret.empty())
        return text;
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += mask.size())
        text.replace(at, secret.size(), mask);
    return text;
}

} // namespace

Handshake::Handshake(const Login& login)
    : login_{login}, next_{login.password.empty() ? Step::hello : Step::auth} {}

void Handshake::write(std::string& out) const {
    if (!login_.password.empty()) {
        CommandWriter auth{out, login_.user.empty() ? 2U : 3U};
        auth.add("AUTH");
        if (!login_.user.empty())
            auth.add(login_.user);
        auth.add(login_.password);
    }
    CommandWriter hello{out, 2};
    hello.add("HELLO");
    hello.add("3");
    CommandWriter name{out, 3};
    name.add("CLIENT");
    name.add("SETNAME");
    name.add(login_.client_name);
}

Handshake::Status Handshake::take(const Value& reply) {
    const Step step = std::exchange(next_, static_cast<Step>(static_cast<int>(next_) + 1));
    switch (step) {
    case Step::auth:
        return reply.is_error() ? refuse(reply) : Status::goes_on;
    case Step::hello:
        return on_hello(reply);
    case Step::name: // the name is for people: a server without it will do
        if (reply.is_error() && code_of(reply.text) == "NOAUTH")
            return refuse(reply);
        return Status::done;
    case Step::over:
        break;
    }
    return Status::refused;
}

Handshake::Status Handshake::on_hello(const Value& reply) {
    if (reply.is_error())
        return knows_no_hello(reply) ? Status::goes_on : refuse(reply);
    const Value* proto = reply.member("proto");
    if (proto != nullptr && proto->integer == 3)
        protocol_ = Protocol::resp3;
    return Status::goes_on;
}

Handshake::Status Handshake::refuse(const Value& reply) {
    refusal_ = printable(without(reply.text, login_.password));
    return Status::refused;
}

} // namespace stint::redis
