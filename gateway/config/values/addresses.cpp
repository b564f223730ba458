#include "config/values/addresses.hpp"

#include "config/values/values.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <optional>
#include <sys/un.h>

namespace stint::config {

namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::string_view http_prefix = "http://";
constexpr std::string_view https_prefix = "https://";
constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;
constexpr std::string_view address_expected =
    "; expected IPv4:port, \"[IPv6]:port\" or unix:/path, such as 0.0.0.0:8080";
constexpr std::string_view endpoint_expected =
    "; expected IPv4:port, \"[IPv6]:port\", name:port, unix:/path or https://name";

// Returns an IP address in its canonical spelling; nullopt if the text is not an address.
std::optional<std::string> canonical_ip(std::string_view text) {
    const std::string copy{text};
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    std::array<char, INET6_ADDRSTRLEN> out{};
    const int family = copy.find(':') == std::string::npos ? AF_INET : AF_INET6;
    if (copy.find('\0') != std::string::npos || inet_pton(family, copy.c_str(), bytes.data()) != 1)
        return std::nullopt;
    return inet_ntop(family, bytes.data(), out.data(), static_cast<socklen_t>(out.size()));
}

Parsed<std::string> parse_socket_path(std::string_view text) {
    constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    const std::string_view path = text.substr(unix_prefix.size());
    const bool printable = std::all_of(path.begin(), path.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    });
    if (path.size() < 2 || path.front() != '/' || !printable)
        return ParseError{in_quotes(text) + " has no absolute path; expected unix:/path"};
    if (path.size() > longest)
        return ParseError{
            in_quotes(text) + " is too long; a Unix socket's path has at most " +
            std::to_string(longest) + " bytes"};
    return std::string{path};
}

Parsed<std::uint16_t>
parse_port(std::string_view text, std::string_view port, std::uint64_t lowest) {
    if (lowest == 0 && port == "0")
        return std::uint16_t{0};
    const auto number = parse_count(port, 1, 65'535);
    if (number)
        return static_cast<std::uint16_t>(*number);
    return ParseError{
        in_quotes(text) + " has no valid port; expected a port from " + std::to_string(lowest) +
        " to 65535"};
}

// Returns a text such as `; did you mean "0.0.0.0:8080"?` for a listener's address without an IP
// address, or with a scheme; "" for any other text.
std::string address_hint(std::string_view text) {
    const std::size_t scheme = text.find("://");
    const std::string_view rest = scheme == std::string_view::npos ? text : text.substr(scheme + 3);
    const std::size_t colon = rest.rfind(':');
    const std::string_view host = colon == std::string_view::npos ? "" : rest.substr(0, colon);
    const std::string_view port = rest.substr(colon == std::string_view::npos ? 0 : colon + 1);
    if (!parse_count(port, 1, 65'535))
        return {};
    std::string address;
    if (host == "localhost")
        address = "127.0.0.1:";
    else if (host.empty() || host == "*")
        address = "0.0.0.0:";
    else if (scheme != std::string_view::npos && canonical_ip(host))
        address = std::string{host} + ':';
    return address.empty() ? std::string{}
                           : "; did you mean " + in_quotes(address.append(port)) + '?';
}

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// Returns true for a label of a host name: RFC 1123 section 2.1, plus underscores, which names in
// container clusters have.
bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                      c == '_';
           });
}

bool starts_with_scheme(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), text.begin(), [](char wanted, char c) {
               return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
           });
}

// Parses "HOST[:port]" of an endpoint. otherwise: the default port; 0 if the port is required.
// text: the whole endpoint, for error messages.
Parsed<Endpoint>
parse_authority(std::string_view text, std::string_view authority, std::uint16_t otherwise) {
    const HostPort parts = split_host_port(authority);
    if (!parts.has_port && otherwise == 0)
        return ParseError{in_quotes(text) + " has no port" + std::string{endpoint_expected}};
    Endpoint endpoint;
    endpoint.text = std::string{text};
    const auto address = canonical_ip(parts.host);
    if (address && parts.bracketed == is_ipv6(parts.host))
        endpoint.host = *address;
    else if (!parts.bracketed && is_host_name(parts.host))
        endpoint.host = std::string{parts.host};
    else
        return ParseError{in_quotes(text) + " is not an endpoint" + std::string{endpoint_expected}};
    if (!parts.has_port) {
        endpoint.port = otherwise;
        return endpoint;
    }
    const auto port = parse_port(text, parts.port, 1);
    if (!port)
        return port.error();
    endpoint.port = *port;
    return endpoint;
}

} // namespace

bool is_ipv4(std::string_view text) {
    return text.find(':') == std::string_view::npos && canonical_ip(text).has_value();
}

bool is_ipv6(std::string_view text) {
    return text.find(':') != std::string_view::npos && canonical_ip(text).has_value();
}

bool is_host_name(std::string_view text) {
    if (text.empty() || text.size() > 253)
        return false;
    std::string_view label;
    for (std::size_t start = 0; start <= text.size(); start += label.size() + 1) {
        label = text.substr(start, text.find('.', start) - start);
        if (!is_label(label))
            return false;
    }
    // Rejects a name whose last label is a number as a mistyped address (WHATWG URL, "ends in a
    // number").
    return !std::all_of(label.begin(), label.end(), is_digit);
}

HostPort split_host_port(std::string_view text) {
    HostPort parts;
    std::size_t end = text.rfind(':');
    if (text.starts_with('[')) {
        const std::size_t bracket = std::min(text.find(']'), text.size());
        parts.bracketed = bracket < text.size();
        end = bracket + 1 < text.size() && text[bracket + 1] == ':' ? bracket + 1
                                                                    : std::string_view::npos;
        // Without "]" ("[::1"), or with text between "]" and the port ("[::1]x:80"), the host is
        // the whole text, with brackets and port. No caller accepts such a host.
        parts.host =
            end == bracket + 1 || bracket + 1 == text.size() ? text.substr(1, bracket - 1) : text;
    } else {
        parts.host = text.substr(0, end);
    }
    parts.has_port = end != std::string_view::npos;
    if (parts.has_port)
        parts.port = text.substr(end + 1);
    return parts;
}

Parsed<Address> parse_address(std::string_view text) {
    Address address;
    address.text = std::string{text};
    if (text.starts_with(unix_prefix)) {
        auto path = parse_socket_path(text);
        if (!path)
            return path.error();
        address.kind = Address::Kind::unix_socket;
        address.host = std::move(*path);
        return address;
    }
    const HostPort parts = split_host_port(text);
    const auto host = canonical_ip(parts.host);
    if (!parts.has_port && (host || parts.host == "*"))
        return ParseError{in_quotes(text) + " has no port" + std::string{address_expected}};
    if (!host || parts.bracketed != is_ipv6(parts.host))
        return ParseError{
            in_quotes(text) + " is not an address" + std::string{address_expected} +
            address_hint(text)};
    const auto port = parse_port(text, parts.port, 0);
    if (!port)
        return port.error();
    address.host = *host;
    address.port = *port;
    return address;
}

Parsed<Endpoint> parse_endpoint(std::string_view text) {
    if (text.starts_with(unix_prefix)) {
        auto path = parse_socket_path(text);
        if (!path)
            return path.error();
        return Endpoint{std::move(*path), 0, true, std::string{text}};
    }
    const bool https = starts_with_scheme(text, https_prefix);
    const bool http = starts_with_scheme(text, http_prefix);
    std::string_view authority = text;
    if (http || https)
        authority.remove_prefix(https ? https_prefix.size() : http_prefix.size());
    if ((http || https) && authority.ends_with('/'))
        authority.remove_suffix(1);
    if (authority.find('/') != std::string_view::npos)
        return ParseError{
            in_quotes(text) + " has a path or an unknown scheme" + std::string{endpoint_expected}};
    std::uint16_t otherwise = 0;
    if (http || https)
        otherwise = https ? https_port : http_port;
    auto endpoint = parse_authority(text, authority, otherwise);
    if (endpoint)
        (*endpoint).tls = https;
    return endpoint;
}

bool is_local(const Address& address) {
    return address.kind == Address::Kind::unix_socket || address.host.starts_with("127.") ||
           address.host == "::1" || address.host.starts_with("::ffff:127.");
}

} // namespace stint::config
