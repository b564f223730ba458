#include "redis/address_source.hpp"

#include "net/address.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace stint::redis {

FixedAddress::FixedAddress(const net::Executor& executor, Address address)
    : executor_{executor}, address_{std::move(address)} {}

void FixedAddress::find(Found found) {
    search_ = std::make_shared<Found>(std::move(found));
    net::asio::post(executor_, [search = std::weak_ptr{search_}, address = address_] {
        if (const auto live = search.lock())
            (*live)({address, {}});
    });
}

HostAddresses::HostAddresses(
    const net::Executor& executor, std::string host, std::uint16_t port, std::string server_name)
    : executor_{executor}, host_{std::move(host)}, port_{port},
      server_name_{std::move(server_name)}, lookup_{executor.context()} {}

void HostAddresses::find(Found found) {
    search_ = std::make_shared<Found>(std::move(found));
    if (next_ < addresses_.size())
        return answer_later();
    if (!net::NameLookup::is_name(host_)) {
        addresses_ = {host_};
        next_ = 0;
        return answer_later();
    }
    lookup_.begin(
        host_, [this, search = std::weak_ptr{search_}](const net::NameLookup::Answer& answer) {
            if (const auto live = search.lock()) {
                addresses_ = answer.addresses;
                next_ = 0;
                if (!answer.failure.empty())
                    (*live)({{}, "look up " + host_ + ": " + answer.failure});
                else
                    (*live)(current());
            }
        });
}

void HostAddresses::answer_later() {
    net::asio::post(executor_, [this, search = std::weak_ptr{search_}] {
        if (const auto live = search.lock())
            (*live)(current());
    });
}

AddressSource::Answer HostAddresses::current() const {
    if (next_ >= addresses_.size())
        return {{}, "look up " + host_ + ": it has no further address"};
    const auto endpoint = net::ip_endpoint(addresses_[next_], port_);
    if (!endpoint)
        return {{}, host_ + ": " + text_of(endpoint.error())};
    Address address{*endpoint, net::to_text(*endpoint), server_name_};
    if (net::NameLookup::is_name(host_))
        address.text = host_ + ":" + std::to_string(port_) + " (" + addresses_[next_] + ")";
    return {address, {}};
}

} // namespace stint::redis
