#include "http/own_host.hpp"

#include "base/ip_address.hpp"
#include "http/target.hpp"

#include <algorithm>

namespace stint::http {
namespace {

bool is_loopback(const IpAddress& address) noexcept {
    static const IpAddress v6 = *IpAddress::parse("::1");
    return address == v6 || (address.is_v4() && address.bytes().front() == 127);
}

} // namespace

bool is_own_host(std::string_view authority, int minor_version, const OwnHost& own) {
    if (own.reach == Reach::unix_socket)
        return true;
    if (authority.empty())
        return minor_version == 0;
    if (authority.substr(0, authority.find(':')) == own.host) [[likely]] // "127.0.0.1:8082"
        return true;
    std::string scratch;
    std::string_view host = normalise_host(authority, scratch);
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    if (host == "localhost" || host == own.host ||
        std::ranges::find(own.others, host) != own.others.end())
        return true;
    const auto literal = IpAddress::parse(host);
    return literal && (own.reach == Reach::network || is_loopback(*literal));
}

} // namespace stint::http
