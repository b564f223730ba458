#include "runtime/listener_set.hpp"

#include <algorithm>
#include <utility>

namespace stint::runtime {
namespace {

// Returns the addresses of the proxy listeners and the permits listener.
std::vector<config::Address> addresses_of(const config::Config& config) {
    std::vector<config::Address> addresses;
    for (const config::Listener& listener : config.listeners)
        addresses.push_back(listener.address);
    if (config.permits)
        addresses.push_back(config.permits->address);
    return addresses;
}

net::SocketFile file_of(const config::Address& address) {
    return {address.mode, address.group_id};
}

Result<net::Endpoint> socket_address_of(const config::Address& address) {
    return address.kind == config::Address::Kind::unix_socket
               ? net::unix_endpoint(address.host)
               : net::ip_endpoint(address.host, address.port);
}

std::string cannot_listen(const config::Address& address, const ErrorCode& error) {
    return "cannot listen on " + address.text + ": " + error.message();
}

} // namespace

ListenerSet::~ListenerSet() {
    for (const auto& [name, bound] : bound_)
        net::remove_socket_file(bound.address, bound.own);
}

Result<ListenerSet::Opened, std::string> ListenerSet::open_new(
    const config::Config& config, std::size_t workers, net::InheritedSockets& inherited) const {
    Opened opened;
    const auto give_up = [&](const config::Address& address, const ErrorCode& error) {
        for (const auto& [name, sockets] : opened)
            if (!sockets.inherited)
                net::remove_socket_file(sockets.address, sockets.file);
        return cannot_listen(address, error);
    };
    for (const config::Address& address : addresses_of(config)) {
        if (bound_.contains(address.text))
            continue;
        const Result<net::Endpoint> endpoint = socket_address_of(address);
        if (!endpoint)
            return give_up(address, endpoint.error());
        auto taken = inherited.take(*endpoint, workers);
        Result<net::ListeningSockets> sockets =
            taken ? std::move(*taken) : net::open_listeners(*endpoint, workers, file_of(address));
        if (!sockets)
            return give_up(address, sockets.error());
        opened.emplace(address.text, std::move(*sockets));
    }
    return opened;
}

std::string ListenerSet::refusal_of_new(const config::Config& config) const {
    net::AddressTrial trial;
    for (const config::Address& address : addresses_of(config)) {
        if (bound_.contains(address.text))
            continue;
        const Result<net::Endpoint> endpoint = socket_address_of(address);
        if (const ErrorCode failed =
                endpoint ? trial.bind(*endpoint, file_of(address)) : endpoint.error())
            return cannot_listen(address, failed);
    }
    return {};
}

void ListenerSet::adopt(const config::Config& config, Opened& opened) {
    const std::vector<config::Address> wanted = addresses_of(config);
    for (const config::Address& address : wanted)
        if (const auto sockets = opened.find(address.text); sockets != opened.end())
            bound_[address.text] = {
                sockets->second.address, file_of(address), std::move(sockets->second.file),
                sockets->second.group};
    std::erase_if(bound_, [&](const auto& listener) {
        const bool gone =
            std::ranges::find(wanted, listener.first, &config::Address::text) == wanted.end();
        if (gone)
            net::remove_socket_file(listener.second.address, listener.second.own);
        return gone;
    });
}

void ListenerSet::set_socket_files(const config::Config& next, std::vector<std::string>& notes) {
    for (const config::Address& address : addresses_of(next)) {
        const auto open = bound_.find(address.text);
        const net::SocketFile file = file_of(address);
        if (open == bound_.end() || open->second.file == file)
            continue;
        net::SocketFile wanted = file;
        if (!file.group && open->second.file.group)
            wanted.group = open->second.group;
        if (const ErrorCode failed =
                net::set_socket_file(open->second.address, open->second.own, wanted))
            notes.push_back(
                address.text + ": its mode or group could not be set: " + failed.message());
        else
            open->second.file = file;
    }
}

std::vector<std::string> ListenerSet::own_files() const {
    std::vector<std::string> files;
    for (const auto& [name, bound] : bound_)
        if (bound.own.get() >= 0)
            files.push_back(net::to_text(bound.address));
    return files;
}

std::vector<std::string> ListenerSet::bound_listeners(const config::Config& config) const {
    std::vector<std::string> addresses;
    for (const config::Listener& listener : config.listeners)
        if (const auto bound = bound_.find(listener.address.text); bound != bound_.end())
            addresses.push_back(net::to_text(bound->second.address));
    return addresses;
}

std::string ListenerSet::bound(const config::Address& address) const {
    return net::to_text(bound_.at(address.text).address);
}

} // namespace stint::runtime
