#include "upstream/resolver.hpp"

#include <boost/asio/ip/address.hpp>

#include <utility>

namespace stint::upstream {

Resolver::Resolver(net::asio::io_context& context, OnBook on_book, OnFailure on_failure)
    : resolver_{context.get_executor()}, timer_{context.get_executor()},
      on_book_{std::move(on_book)}, on_failure_{std::move(on_failure)} {}

bool Resolver::is_name(const std::string& host) {
    ErrorCode error;
    net::asio::ip::make_address(host, error);
    return static_cast<bool>(error);
}

void Resolver::watch(std::set<std::string> names, std::function<void()> on_ready) {
    names_ = std::move(names);
    std::erase_if(book_, [this](const auto& entry) { return !names_.contains(entry.first); });
    // Destroyed with the last look-up of the round that holds it.
    const std::shared_ptr<void> round{
        static_cast<void*>(nullptr), [ready = std::move(on_ready)](void*) {
            if (ready)
                ready();
        }};
    for (const std::string& name : names_)
        if (!book_.contains(name))
            look_up(name, round);
    wait_for_next_round();
}

void Resolver::stop() {
    names_.clear();
    resolver_.cancel();
    timer_.cancel();
}

void Resolver::look_up(const std::string& name, std::shared_ptr<void> round) {
    resolver_.async_resolve(
        name, "", [this, name, round](const ErrorCode& error, const auto& results) {
            if (!names_.contains(name))
                return;
            if (error)
                return on_failure_(name, error);
            std::vector<std::string> addresses;
            for (const auto& result : results)
                addresses.push_back(result.endpoint().address().to_string());
            if (std::exchange(book_[name], addresses) != addresses)
                on_book_(std::make_shared<const AddressBook>(book_));
        });
}

void Resolver::wait_for_next_round() {
    timer_.expires_after(interval);
    timer_.async_wait([this](const ErrorCode& error) {
        if (error)
            return;
        for (const std::string& name : names_)
            look_up(name, nullptr);
        wait_for_next_round();
    });
}

} // namespace stint::upstream
