#include "http/proxy_header.hpp"

#include <cstddef>
#include <string_view>

namespace stint::http {

namespace {

using namespace std::string_view_literals;

IpAddress destination_of(const ProxiedConnection& connection) noexcept {
    const IpAddress& source = connection.source;
    return connection.destination.bits() == source.bits() ? connection.destination
                                                          : source.network(0);
}

void append_number(std::string& out, std::size_t number) {
    out += static_cast<char>(number >> 8U & 0xFFU);
    out += static_cast<char>(number & 0xFFU);
}

} // namespace

void append_proxy_header_v1(std::string& out, const ProxiedConnection& connection) {
    if (connection.source.empty()) {
        out += "PROXY UNKNOWN\r\n";
        return;
    }
    out += connection.source.is_v4() ? "PROXY TCP4 " : "PROXY TCP6 ";
    out.append(IpText{connection.source}.view()).append(" ");
    out.append(IpText{destination_of(connection)}.view()).append(" ");
    out.append(std::to_string(connection.source_port)).append(" ");
    out.append(std::to_string(connection.destination_port)).append("\r\n");
}

void append_proxy_header_v2(std::string& out, const ProxiedConnection& connection) {
    out += "\r\n\r\n\0\r\nQUIT\n"sv;
    if (connection.source.empty()) {
        out += "\x20\0\0\0"sv; // version 2, LOCAL, no family, no addresses
        return;
    }
    const bool v4 = connection.source.is_v4();
    out += v4 ? "\x21\x11"sv : "\x21\x21"sv; // version 2, PROXY; TCP over IPv4 or IPv6
    append_number(out, v4 ? 12 : 36);
    out += connection.source.bytes();
    out += destination_of(connection).bytes();
    append_number(out, connection.source_port);
    append_number(out, connection.destination_port);
}

} // namespace stint::http
