// Heads: found at any split, parsed, written anew, and what was written read again.
//
// Input: a byte of options (see Options), a byte that says where the input is split, the bytes.
#include "http/framing.hpp"
#include "http/head_parser.hpp"
#include "http/rewrite.hpp"
#include "http/target.hpp"
#include "oracle.hpp"
#include "strict_http.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::fuzz {

namespace {

using Kind = BodyFraming::Kind;

constexpr std::size_t max_head = 16 * 1024;

// Printable as a letter: "@" has none.
struct Options {
    explicit Options(std::uint8_t byte)
        : response{(byte & 1) != 0}, trusted{(byte & 2) != 0}, own_host{(byte & 4) != 0},
          client_field{(byte & 8) != 0}, to_head{(byte & 16) != 0} {}

    bool response;
    bool trusted;
    bool own_host;
    bool client_field;
    bool to_head; // the response answers a HEAD
};

std::size_t plain_head_end(std::string_view data) {
    const std::size_t bare = data.find("\n\n");
    const std::size_t full = data.find("\n\r\n");
    const std::size_t none = std::string_view::npos;
    return std::min(bare == none ? none : bare + 2, full == none ? none : full + 3);
}

// The end of the head, or the whole size where it has none.
std::size_t check_head_end(std::string_view data, std::size_t split) {
    std::size_t scanned = 0;
    std::size_t found = http::find_head_end(data.substr(0, split), scanned);
    require(scanned <= split, "what is scanned has come in", data);
    if (found == 0)
        found = http::find_head_end(data, scanned);
    require(
        found == (plain_head_end(data) == std::string_view::npos ? 0 : plain_head_end(data)),
        "a head ends at its first empty line, however it is split", data);
    return found == 0 ? data.size() : found;
}

bool same_framing(const BodyFraming& framing, const Message& message) {
    switch (framing.kind) {
    case Kind::none:
        return message.framing == Message::Body::none;
    case Kind::length:
        return message.framing == Message::Body::length && message.length == framing.length;
    case Kind::chunked:
        return message.framing == Message::Body::chunked;
    case Kind::until_close:
        break;
    }
    return false;
}

// Every escape is a capital one, and of a character that needs it.
bool spelt_normally(std::string_view path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t at = path.find('%'); at != std::string_view::npos;
         at = path.find('%', at + 1)) {
        const std::string_view escape = path.substr(at + 1, 2);
        const std::size_t high =
            escape.size() == 2 ? digits.find(escape[0]) : std::string_view::npos;
        const std::size_t low =
            escape.size() == 2 ? digits.find(escape[1]) : std::string_view::npos;
        if (high >= digits.size() || low >= digits.size() || high * 16 + low == 0)
            return false;
        const auto c = static_cast<char>(high * 16 + low);
        const bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || std::string_view{"-._~"}.find(c) != std::string_view::npos)
            return false;
    }
    return true;
}

void check_path(std::string_view path) {
    constexpr PathRules rules;
    std::string scratch;
    const auto normal = http::normalise_path(path, rules, scratch);
    if (!normal || !path.starts_with('/'))
        return;
    const std::string once{normal->text};
    require(once.starts_with('/'), "a normal path begins with a slash", once);
    const std::string closed = once + "/";
    for (const std::string_view dots : {"/./", "/../"})
        require(closed.find(dots) == std::string::npos, "a normal path has no dot segments", once);
    require(spelt_normally(once), "escapes are in upper case and necessary", once);
    const auto again = http::normalise_path(once, rules, scratch);
    require(again && again->text == once, "a normal path stays as it is", once);
    require(!again->forward, "a normal path needs no other spelling", once);
    for (const http::PathReading reading : http::path_readings)
        (void)http::read_path(path, rules, reading);
}

void check_host(std::string_view authority) {
    std::string scratch;
    const std::string_view host = http::normalise_host(authority, scratch);
    const std::string once{host};
    require(http::normalise_host(once, scratch) == once, "a normal host stays as it is", once);
    require(
        std::none_of(once.begin(), once.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
        "a normal host has no capitals", authority);
}

http::Forwarding forwarding_of(const Options& options) {
    http::Forwarding forwarding;
    forwarding.peer_address = "192.0.2.1";
    forwarding.scheme = "http";
    forwarding.request_id = "an-id";
    forwarding.peer_is_trusted = options.trusted;
    if (options.own_host)
        forwarding.host = "origin.example:8080";
    if (options.client_field)
        forwarding.client_field = "x-real-ip";
    return forwarding;
}

// What was written means to the gateway's own reader what it meant when it came.
void check_read_again(std::string_view written, const RequestHead& request, std::string_view host) {
    static http::HeadParser parser{4 * max_head, 512};
    const auto again = parser.parse_request(written);
    require(again.has_value(), "the gateway takes what it writes", written);
    require(again->method == request.method, "the method is read again", written);
    require(again->query == request.query, "the query is read again", written);
    require(again->path == request.path || again->path == "*", "the path is read again", written);
    require(
        again->framing.kind == request.framing.kind &&
            again->framing.length == request.framing.length,
        "the framing is read again", written);
    require(again->authority == host, "the host is read again", written);
}

void check_request(std::string_view head, const Options& options) {
    static http::HeadParser parser{max_head};
    static http::HeadBuffer out;
    const auto request = parser.parse_request(head);
    if (!request) {
        require(request.error().status >= 400, "a refusal has a status", head);
        require(!request.error().detail.empty(), "a refusal says why", head);
        return;
    }
    check_path(request->path);
    check_host(request->authority);

    const http::Forwarding forwarding = forwarding_of(options);
    out.clear();
    http::write_upstream_head(out, *request, forwarding);
    const Message seen = read_request_head(out.view());
    require(seen.first == request->method, "the method stays as it is", out.view());
    require(
        seen.second == origin_form(request->method, request->target), "the target stays as it is",
        out.view());
    require(same_framing(request->framing, seen), "the framing stays as it is", out.view());
    check_read_again(out.view(), *request, options.own_host ? forwarding.host : request->authority);
}

void check_response(std::string_view head, const Options& options) {
    static http::HeadParser parser{max_head};
    static http::HeadParser second{4 * max_head, 512};
    static http::HeadBuffer out;
    const std::string_view method = options.to_head ? "HEAD" : "GET";
    const auto response = parser.parse_response(head, method);
    if (!response)
        return;
    const int client_minor = options.trusted ? 0 : 1;
    const http::ResponseFraming framing =
        http::frame_response(client_minor, response->framing, !options.own_host);
    out.clear();
    http::write_downstream_head(out, *response, framing, "an-id", "Sun, 06 Nov 1994 08:49:37 GMT");
    const Message seen = read_response_head(out.view(), method);
    require(
        seen.second == std::to_string(response->status), "the status stays as it is", out.view());
    if (response->framing.kind == Kind::length)
        require(same_framing(response->framing, seen), "the length stays as it is", out.view());
    const auto again = second.parse_response(out.view(), method);
    require(again.has_value(), "the gateway takes what it writes", out.view());
    require(again->status == response->status, "the status is read again", out.view());
    require(again->reason == response->reason, "the reason is read again", out.view());
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stint::fuzz;
    if (size < 2)
        return 0;
    const Options options{bytes[0]};
    const std::string data{reinterpret_cast<const char*>(bytes) + 2, size - 2};
    const std::size_t end = check_head_end(data, data.size() * bytes[1] / 256);
    const std::string_view head = std::string_view{data}.substr(0, end);
    if (options.response)
        check_response(head, options);
    else
        check_request(head, options);
    return 0;
}
