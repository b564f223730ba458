// PROXY headers that are written are those that are read.
#include "http/proxy_header.hpp"
#include "http/proxy_protocol.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stint;
using namespace stint::http;
using namespace std::string_literals;

namespace {

using Write = void (*)(std::string&, const ProxiedConnection&);

std::string written(Write write, const ProxiedConnection& connection) {
    std::string out;
    write(out, connection);
    return out;
}

ProxiedConnection connection(std::string_view source, std::string_view destination) {
    return {
        IpAddress::parse(source).value_or(IpAddress{}), 50'000,
        IpAddress::parse(destination).value_or(IpAddress{}), 8080};
}

} // namespace

TEST_CASE("a header of either version is read as it was written") {
    for (const Write write : {append_proxy_header_v1, append_proxy_header_v2})
        for (const char* const source : {"192.0.2.7", "2001:db8::7"})
            for (const char* const destination : {"198.51.100.1", "2001:db8::1", ""}) {
                CAPTURE(source);
                CAPTURE(destination);
                const std::string text = written(write, connection(source, destination));
                const ProxyHeader header = parse_proxy_header(text);
                CHECK(header.status == ProxyHeader::Status::address);
                CHECK(header.size == text.size());
                CHECK(header.source == *IpAddress::parse(source));
            }
}

TEST_CASE("a client that nobody knows is none") {
    for (const Write write : {append_proxy_header_v1, append_proxy_header_v2}) {
        const std::string text = written(write, connection("", "198.51.100.1"));
        const ProxyHeader header = parse_proxy_header(text);
        CHECK(header.status == ProxyHeader::Status::no_address);
        CHECK(header.size == text.size());
    }
}

TEST_CASE("the bytes are those of the specification") {
    CHECK(
        written(append_proxy_header_v1, connection("192.0.2.7", "198.51.100.1")) ==
        "PROXY TCP4 192.0.2.7 198.51.100.1 50000 8080\r\n");
    CHECK(
        written(append_proxy_header_v1, connection("2001:db8::7", "198.51.100.1")) ==
        "PROXY TCP6 2001:db8::7 :: 50000 8080\r\n");
    CHECK(
        written(append_proxy_header_v2, connection("192.0.2.7", "198.51.100.1")) ==
        "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C\xC0\0\x02\x07\xC6\x33\x64\x01\xC3\x50\x1F\x90"s);
}
