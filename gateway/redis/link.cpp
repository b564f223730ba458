#include "redis/link.hpp"

#include <utility>

namespace stint::redis {

Link::Link(
    const net::Executor& executor,
    LinkSettings settings,
    std::unique_ptr<AddressSource> addresses,
    User& user)
    : executor_{executor}, settings_{std::move(settings)}, addresses_{std::move(addresses)},
      user_{user}, backoff_{settings_.first_pause, settings_.longest_pause},
      random_{std::random_device{}()}, timer_{executor} {
    find();
}

Link::~Link() {
    addresses_->cancel();
}

Connection* Link::ready() noexcept {
    return connection_ && connection_->ready() ? connection_.get() : nullptr;
}

const Connection* Link::ready() const noexcept {
    return connection_ && connection_->ready() ? connection_.get() : nullptr;
}

void Link::give_up(std::string what) {
    if (connection_)
        connection_->give_up(std::move(what));
}

void Link::redirect(std::string what) {
    addresses_->note_redirect(what);
    give_up(std::move(what));
}

void Link::change_address(std::string what) {
    changes_ = connection_ != nullptr;
    if (connection_)
        connection_->give_up(std::move(what));
    else if (pauses_)
        find_after(Duration::zero());
}

void Link::find() {
    pauses_ = false;
    addresses_->find([this](const AddressSource::Answer& found) {
        Connection::Owner& owner = *this;
        if (found.failure.empty())
            connection_ =
                std::make_unique<Connection>(executor_, found.address, settings_.connection, owner);
        else
            on_end({Failure::Kind::unreachable, "redis: " + found.failure});
    });
}

void Link::on_end(const Failure& why) {
    const Failure reason{why}; // a copy: it is the connection's, which goes
    connection_.reset();
    addresses_->note_failure();
    pause_and_find();
    user_.on_link_down(*this, reason);
}

void Link::pause_and_find() {
    const auto random = static_cast<std::uint32_t>(random_() << 16U ^ random_());
    const Duration pause = backoff_.next(random);
    find_after(std::exchange(changes_, false) ? Duration::zero() : pause);
}

void Link::find_after(Duration pause) {
    pauses_ = true;
    timer_.expires_after(pause);
    timer_.async_wait([link = std::weak_ptr{self_}](const ErrorCode& error) {
        const auto live = link.lock();
        if (!error && live && (*live)->pauses_) // else it was armed anew in the same turn
            (*live)->find();
    });
}

} // namespace stint::redis
