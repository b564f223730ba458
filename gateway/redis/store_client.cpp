// A store's connection: how it comes up and goes down, and its messages.
#include "redis/store_client.hpp"

#include "net/clock.hpp"
namespace stint::redis {

StoreClient::StoreClient(
    const net::Executor& executor,
    LinkSettings settings,
    std::unique_ptr<AddressSource> addresses,
    std::string script,
    Watcher& watcher)
    : executor_{executor}, settings_{std::move(settings)}, set_up_{std::move(script)},
      watcher_{watcher}, calls_{make_link(std::move(addresses))} {}

StoreClient::~StoreClient() = default;

std::unique_ptr<Link> StoreClient::make_link(std::unique_ptr<AddressSource> addresses) {
    Link::User& user = *this;
    return std::make_unique<Link>(executor_, settings_, std::move(addresses), user);
}

StoreState StoreClient::state() const {
    StoreState state{state_};
    state.up = up_;
    state.failures = calls_->failures();
    if (const Connection* connection = std::as_const(*calls_).ready()) {
        state.address = connection->address().text;
        state.round_trip = connection->round_trip();
    }
    return state;
}

void StoreClient::on_link_ready(Link& link) {
    Connection& connection = *link.ready();
    if (&link == messages_.get())
        return subscribe_all(connection);
    const bool sent = set_up_.begin(connection, [this](const std::string& failure) {
        if (failure.empty())
            come_up();
        else
            calls_->give_up(failure);
    });
    if (!sent)
        link.give_up("the script is larger than what may be sent");
}

void StoreClient::come_up() {
    Connection& connection = *calls_->ready();
    facts_ = set_up_.facts();
    up_ = true;
    ++state_.times_up;
    state_.up_since = net::read_steady_clock();
    if (connection.protocol() == Protocol::resp3)
        subscribe_all(connection);
    else
        open_message_link(connection.address());
    watcher_.on_up(facts_);
}

void StoreClient::open_message_link(const Address& address) {
    messages_.reset();
    if (!channels_.empty())
        messages_ = make_link(std::make_unique<FixedAddress>(executor_, address));
}

void StoreClient::on_link_down(Link& link, const Failure& why) {
    note_error(why.text);
    if (&link == messages_.get())
        return;
    messages_.reset();
    up_ = false;
    watcher_.on_down(why);
}

void StoreClient::subscribe(std::string channel, MessageHandler handler) {
    const auto placed = channels_.insert_or_assign(std::move(channel), std::move(handler));
    if (!placed.second || !up_)
        return;
    Connection& connection = *calls_->ready();
    if (connection.protocol() == Protocol::resp3)
        return subscribe(connection, placed.first->first);
    if (!messages_)
        return open_message_link(connection.address());
    if (Connection* ready = messages_->ready())
        subscribe(*ready, placed.first->first);
}

void StoreClient::subscribe_all(Connection& connection) {
    for (const auto& [channel, handler] : channels_)
        subscribe(connection, channel);
}

void StoreClient::subscribe(Connection& connection, const std::string& channel) {
    const auto sent = connection.subscribe(channel, [this, channel](const Reply& reply) {
        if (reply && reply->is_error())
            note_error("redis: channel " + channel + ": " + printable(reply->text));
        else if (reply && messages_)
            messages_->note_success();
    });
    if (!sent)
        note_error(sent.error().text);
}

void StoreClient::on_link_message(const Value& message) {
    const std::vector<Value>& items = message.items;
    if (items.size() != 3 || items[0].text != "message" || !items[2].is_text())
        return;
    const auto found = channels_.find(items[1].text);
    if (found == channels_.end())
        return;
    const MessageHandler handler = found->second; // it may be replaced, or all be destroyed
    handler(items[2].text);
}

void StoreClient::note_error(const std::string& text) {
    state_.last_error = text;
    state_.last_error_at = net::read_steady_clock();
}

} // namespace stint::redis
