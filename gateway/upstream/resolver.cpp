#include "upstream/resolver.hpp"

#include "net/address.hpp"
#include "net/clock.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <mutex>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace stint::upstream {

struct Resolver::Mailbox {
    std::mutex mutex;
    net::asio::io_context* context; // nullptr: the resolver has stopped
};

Resolver::Resolver(net::asio::io_context& context, OnBook on_book, OnFailure on_failure)
    : timer_{context.get_executor()}, on_book_{std::move(on_book)},
      on_failure_{std::move(on_failure)}, mailbox_{std::make_shared<Mailbox>()} {
    mailbox_->context = &context;
}

Resolver::~Resolver() {
    stop();
}

bool Resolver::is_name(const std::string& host) {
    ErrorCode error;
    net::asio::ip::make_address(host, error);
    return static_cast<bool>(error);
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
    // Destroyed with the last look-up of the round that holds it.
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
    const std::lock_guard lock{mailbox_->mutex};
    mailbox_->context = nullptr;
}

// Looks up one name, on a thread of its own.
Resolver::Answer Resolver::look_up(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
    if (failed != 0)
        return {name, {}, ::gai_strerror(failed)};
    Answer answer{name, {}, {}};
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        net::Endpoint endpoint{each->ai_addr, each->ai_addrlen};
        answer.addresses.emplace_back(net::PeerAddress{endpoint}.text());
    }
    ::freeaddrinfo(found);
    return answer;
}

void Resolver::begin(const std::string& name, std::shared_ptr<void> round) {
    if (!under_way_.insert(name).second)
        return;
    try {
        std::thread{[this, name, round = std::move(round), mailbox = mailbox_]() mutable {
            sigset_t all;
            sigfillset(&all);
            pthread_sigmask(SIG_BLOCK, &all, nullptr); // signals belong to the control thread
            Answer answer = look_up(name);
            const std::lock_guard lock{mailbox->mutex};
            if (mailbox->context != nullptr)
                net::asio::post(
                    *mailbox->context,
                    [this, answer = std::move(answer), round = std::move(round)] { take(answer); });
        }}.detach();
    } catch (const std::system_error& failure) {
        take({name, {}, failure.what()});
    }
}

void Resolver::take(const Answer& answer) {
    under_way_.erase(answer.name);
    if (!names_.contains(answer.name))
        return;
    if (!answer.failure.empty())
        return on_failure_(answer.name, answer.failure);
    if (std::exchange(book_[answer.name], answer.addresses) != answer.addresses)
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
