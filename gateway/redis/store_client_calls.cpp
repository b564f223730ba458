// A store's calls.
#include "redis/resp/command.hpp"
#include "redis/store_client.hpp"

#include <boost/asio/post.hpp>

namespace stint::redis {
namespace {

bool is_replica(Failure::Kind kind) noexcept {
    return kind == Failure::Kind::read_only || kind == Failure::Kind::primary_down;
}

// The command that lets a node of a Cluster carry the next one out although it does not own its key
// yet.
const std::string& asking() {
    static const std::string command = command_of({"ASKING"});
    return command;
}

} // namespace

void StoreClient::call(
    std::span<const std::string_view> keys,
    std::span<const std::string_view> arguments,
    ReplyHandler handler) {
    if (!up_)
        return refuse(std::move(handler), down());
    std::string command;
    CommandWriter writer{command, 3 + keys.size() + arguments.size()};
    writer.add("EVALSHA");
    writer.add(set_up_.sha1());
    writer.add(keys.size());
    for (const std::string_view key : keys)
        writer.add(key);
    for (const std::string_view argument : arguments)
        writer.add(argument);
    send(std::move(command), std::move(handler), false);
}

// again: the script was loaded for it once more.
void StoreClient::send(std::string command, ReplyHandler handler, bool again) {
    Connection* connection = calls_->ready();
    if (connection == nullptr)
        return refuse(std::move(handler), down());
    if (again && !set_up_.load_again(*connection))
        return refuse(std::move(handler), {Failure::Kind::busy, "redis: too much is in flight"});
    if (connection->address().asking && !connection->send(asking(), [](const Reply&) {}))
        return refuse(std::move(handler), {Failure::Kind::busy, "redis: too much is in flight"});
    auto kept = std::make_shared<std::pair<std::string, ReplyHandler>>(
        std::move(command), std::move(handler));
    const auto sent = connection->send(kept->first, [this, kept, again](Reply reply) {
        on_reply(std::move(kept->first), kept->second, again, std::move(reply));
    });
    if (!sent)
        refuse(std::move(kept->second), sent.error());
}

// The handler comes last: it may destroy this object.
void StoreClient::on_reply(
    std::string command, const ReplyHandler& handler, bool again, Reply reply) {
    if (!reply)
        return handler(std::move(reply));
    if (!reply->is_error()) {
        calls_->note_success();
        return handler(std::move(reply));
    }
    const Failure failure = failure_of(*reply);
    if (failure.kind == Failure::Kind::no_script && !again)
        return send(std::move(command), handler, true);
    if (is_replica(failure.kind))
        calls_->give_up(printable(reply->text));
    if (failure.kind == Failure::Kind::redirected)
        calls_->redirect(printable(reply->text));
    handler(failure);
}

Failure StoreClient::down() const {
    return {
        Failure::Kind::unreachable,
        state_.last_error.empty() ? "redis: not connected yet" : state_.last_error};
}

void StoreClient::refuse(ReplyHandler handler, Failure failure) {
    refused_.emplace_back(std::move(handler), std::move(failure));
    if (refused_.size() == 1)
        net::asio::post(executor_, [client = std::weak_ptr{self_}] {
            if (StoreClient* live = client.expired() ? nullptr : *client.lock())
                live->answer_refused();
        });
}

// A handler may make further calls, or destroy this object.
void StoreClient::answer_refused() {
    const std::weak_ptr<StoreClient*> self{self_};
    const auto answered = std::exchange(refused_, {});
    for (const auto& [handler, failure] : answered) {
        handler(failure);
        if (self.expired())
            return;
    }
}

} // namespace stint::redis
