#include "upstream/resolver.hpp"

#include "net/clock.hpp"

#include <algorithm>
#include <utility>

namespace stint::upstream {

Resolver::Resolver(net::asio::io_context& context, OnBook on_book, OnFailure on_failure)
    : timer_{context.get_executor()}, on_book_{std::move(on_book)},
      on_failure_{std::move(on_failure)}, lookup_{context} {}

Resolver::~Resolver() {
    stop();
}

void Resolver::watch(const Names& names, std::function<void()> on_ready) {
    const SteadyTime now = net::read_steady_clock();
    std::map<std::string, Watched> watched;
    for (const auto& [name, interval] : names) {
        const auto known = names_.find(name);
        const bool same = known != names_.end() && known->second.interval == interval;
        watched[name] = {interval, same ? known->second.due : now + interval};
    }
    names_ = std::move(watched);
    std::erase_if(book_, [this](const auto& entry) { return !names_.contains(entry.first); });
    // Its deleter calls on_ready, once the last look-up of this round has ended and dropped its
    // copy.
    const std::shared_ptr<void> round{
        static_cast<void*>(nullptr), [ready = std::move(on_ready)](void*) {
            if (ready)
                ready();
        }};
    for (const auto& [name, watched_name] : names_)
        if (!book_.contains(name))
            begin(name, round);
    wait_for_next_round();
}

void Resolver::stop() {
    names_.clear();
    timer_.cancel();
    lookup_.stop();
}

void Resolver::begin(const std::string& name, std::shared_ptr<void> round) {
    if (!under_way_.insert(name).second)
        return;
    lookup_.begin(
        name, [this, name, round = std::move(round)](const Answer& answer) { take(name, answer); });
}

void Resolver::take(const std::string& name, const Answer& answer) {
    under_way_.erase(name);
    if (!names_.contains(name))
        return;
    if (!answer.failure.empty())
        return on_failure_(name, answer.failure);
    if (std::exchange(book_[name], answer.addresses) != answer.addresses)
        on_book_(std::make_shared<const AddressBook>(book_));
}

void Resolver::wait_for_next_round() {
    timer_.cancel();
    if (names_.empty())
        return;
    SteadyTime next = SteadyTime::max();
    for (const auto& [name, watched] : names_)
        next = std::min(next, watched.due);
    timer_.expires_at(next);
    timer_.async_wait([this](const ErrorCode& error) {
        if (error)
            return;
        const SteadyTime now = net::read_steady_clock();
        for (auto& [name, watched] : names_) {
            if (watched.due > now)
                continue;
            watched.due = now + watched.interval;
            begin(name, nullptr);
        }
        wait_for_next_round();
    });
}

} // namespace stint::upstream
