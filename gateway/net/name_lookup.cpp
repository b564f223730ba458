#include "net/name_lookup.hpp"

#include "net/address.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace stint::net {

struct NameLookup::Mailbox {
    std::mutex mutex;
    asio::io_context* context; // nullptr: stopped
};

NameLookup::NameLookup(asio::io_context& context) : mailbox_{std::make_shared<Mailbox>()} {
    mailbox_->context = &context;
}

NameLookup::~NameLookup() {
    stop();
}

bool NameLookup::is_name(const std::string& host) {
    ErrorCode error;
    asio::ip::make_address(host, error);
    return static_cast<bool>(error);
}

void NameLookup::stop() {
    const std::lock_guard lock{mailbox_->mutex};
    mailbox_->context = nullptr;
}

// Looks up one name, on a thread of its own.
NameLookup::Answer NameLookup::look_up(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
    if (failed != 0)
        return {{}, ::gai_strerror(failed)};
    Answer answer;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        Endpoint endpoint{each->ai_addr, each->ai_addrlen};
        answer.addresses.emplace_back(PeerAddress{endpoint}.text());
    }
    ::freeaddrinfo(found);
    return answer;
}

void NameLookup::begin(const std::string& name, Done done) {
    const auto post = [mailbox = mailbox_](Done to, Answer answer) {
        const std::lock_guard lock{mailbox->mutex};
        if (mailbox->context != nullptr)
            asio::post(*mailbox->context, [to = std::move(to), answer = std::move(answer)] {
                to(answer);
            });
    };
    try {
        std::thread{[name, done, post]() mutable {
            sigset_t all;
            sigfillset(&all);
            pthread_sigmask(SIG_BLOCK, &all, nullptr); // signals belong to other threads
            Answer answer = look_up(name);
            post(std::move(done), std::move(answer));
        }}.detach();
    } catch (const std::system_error& failure) {
        post(std::move(done), {{}, failure.what()});
    }
}

} // namespace stint::net
