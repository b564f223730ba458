// A connection's commands: whom a reply belongs to, and what becomes of those without one.
#include "net/clock.hpp"
#include "redis/connection_core.hpp"

#include <utility>

namespace stint::redis {
namespace {

Failure refusal(Failure::Kind kind, const std::string& address, std::string_view what) {
    return {kind, std::string{"redis: "}.append(address).append(": ").append(what)};
}

std::string_view message_kind(const Value& message) noexcept {
    return !message.items.empty() && message.items.front().is_text()
               ? std::string_view{message.items.front().text}
               : std::string_view{};
}

bool is_confirmation(std::string_view kind) noexcept {
    return kind == "subscribe" || kind == "unsubscribe";
}

} // namespace

Result<void, Failure>
Connection::Core::send(std::string_view command, ReplyHandler handler, bool subscribes) {
    if (!ready())
        return refusal(Failure::Kind::unreachable, address_.text, "not connected");
    if (in_flight_.size() >= settings_->max_in_flight)
        return refusal(Failure::Kind::busy, address_.text, "too many commands wait for a reply");
    if (queued_.size() + unsent_.bytes() + command.size() > settings_->max_unsent)
        return refusal(Failure::Kind::busy, address_.text, "too many bytes wait to be sent");
    subscribes_ = subscribes_ || subscribes;
    append(command, std::move(handler), subscribes);
    return {};
}

void Connection::Core::give_up(std::string what) {
    net::asio::post(
        stream_.socket().get_executor(), [self = shared_from_this(), what = std::move(what)] {
            self->fail(Failure::Kind::broken, what);
        });
}

// A callback may drop this connection.
void Connection::Core::take_in(std::string_view bytes) {
    heard_ = net::read_steady_clock();
    while (!bytes.empty() && !over_) {
        switch (parser_.feed(bytes)) {
        case ReplyParser::Status::incomplete:
            break;
        case ReplyParser::Status::complete:
            deliver(parser_.take());
            break;
        case ReplyParser::Status::malformed:
            return fail(Failure::Kind::malformed, std::string{parser_.fault()});
        }
    }
    if (!over_)
        arm(); // an idle connection may have to be asked earlier than a reply was due
}

void Connection::Core::deliver(Value value) {
    if (is_message(value))
        on_message(std::move(value));
    else if (!ready_)
        on_handshake(value);
    else
        on_reply(std::move(value));
}

void Connection::Core::on_handshake(const Value& reply) {
    switch (handshake_.take(reply)) {
    case Handshake::Status::goes_on:
        return;
    case Handshake::Status::refused:
        return fail(Failure::Kind::unreachable, handshake_.refusal());
    case Handshake::Status::done:
        break;
    }
    ready_ = true;
    ready_since_ = heard_;
    arm();
    owner_->on_ready();
}

void Connection::Core::on_reply(Value value) {
    if (in_flight_.empty())
        return fail(
            Failure::Kind::malformed,
            value.is_error() ? printable(value.text) : "a reply that no command has asked for");
    const Command command = std::move(in_flight_.front());
    in_flight_.pop_front();
    round_trip_ = heard_ - command.at;
    if (command.handler)
        command.handler(std::move(value));
}

// The confirmation of a subscription is the only answer to its command.
void Connection::Core::on_message(Value value) {
    if (!in_flight_.empty() && in_flight_.front().subscribes &&
        is_confirmation(message_kind(value)))
        return on_reply(std::move(value));
    if (ready_)
        owner_->on_push(value);
}

bool Connection::Core::is_message(const Value& value) const noexcept {
    if (value.kind == Value::Kind::push)
        return true;
    if (!subscribes_ || value.kind != Value::Kind::array || protocol() == Protocol::resp3)
        return false;
    const std::string_view kind = message_kind(value);
    return kind == "message" || is_confirmation(kind);
}

// Ends the connection, and answers all commands. A callback may drop it: then the rest are
// forgotten.
void Connection::Core::fail(Failure::Kind kind, const std::string& what) {
    if (over_)
        return;
    over_ = true;
    if (!ready_ && kind == Failure::Kind::broken)
        kind = Failure::Kind::unreachable;
    std::deque<Command> unanswered = std::move(in_flight_);
    std::vector<Written> sent;
    for (const Command& command : unanswered)
        sent.push_back(written(command));
    net::close(stream_);
    timer_.cancel();
    Failure failure{
        kind, std::string{"redis: "}
                  .append(ready_ ? "" : "connect to ")
                  .append(address_.text)
                  .append(": ")
                  .append(what)};
    for (std::size_t i = 0; i < unanswered.size() && owner_ != nullptr; ++i) {
        failure.written = sent[i];
        if (unanswered[i].handler)
            unanswered[i].handler(failure);
    }
    failure.written = Written::nothing;
    if (owner_ != nullptr)
        owner_->on_end(failure);
}

} // namespace stint::redis
