// Field lists of HTTP/2: what is taken is written for HTTP/1.1, and read there as one request with
// the same meaning.
//
// Input: a byte of options (1: a body follows; 2: small bounds; 4: small max_target), then lines
// "name value" with a tab between them, each ended by a byte of 0x1e. Any other byte may be in
// both.
#include "base/head_bounds.hpp"
#include "http/head_parser.hpp"
#include "http/http2_request.hpp"
#include "http/rewrite.hpp"
#include "oracle.hpp"
#include "strict_http.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::fuzz {

namespace {

using http::Http2Request;

constexpr char line_end = '\x1e';
constexpr std::string_view key = "AQIDBAUGBwgJCgsMDQ4PEA==";

HeadBounds bounds_of(std::uint8_t options) {
    const bool small = (options & 2) != 0;
    return {
        .max_head = small ? 256U : 16U * 1024,
        .max_target = (options & 4) != 0 ? 8U : 8U * 1024,
        .max_fields = small ? 4U : 128U};
}

void add_fields(std::string_view text, Http2Request& into) {
    using Size = Http2Request::Size;
    Size size = Size::within;
    while (!text.empty() && size != Size::absurd) {
        const std::string_view line = text.substr(0, text.find(line_end));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::size_t tab = std::min(line.find('\t'), line.size());
        const Size next =
            into.add(line.substr(0, tab), line.substr(std::min(line.size(), tab + 1)));
        require(next >= size, "a list does not become smaller", line);
        size = next;
    }
}

void check_taken(const RequestHead& request, bool ends) {
    static http::HeadBuffer out;
    static http::HeadParser parser{64 * 1024, 512};
    require(request.http2, "a head says what carried it");
    require(!request.method.empty(), "a request has a method");
    require(!request.authority.empty(), "a request has a host", request.target);
    require(request.path == "*" || request.path.starts_with('/'), "a path is one", request.path);
    require(
        ends || request.extended_connect || request.framing.has_body() ||
            request.framing.kind == BodyFraming::Kind::length,
        "a body that follows is framed");
    require(!ends || !request.framing.has_body(), "no body follows the end");

    http::Forwarding forwarding;
    forwarding.peer_address = "192.0.2.1";
    forwarding.scheme = "http";
    forwarding.request_id = "an-id";
    if (request.extended_connect)
        forwarding.upgrade = "websocket";
    out.clear();
    http::write_upstream_head(out, request, forwarding);
    const Message seen = read_request_head(out.view());
    require(seen.first == request.method, "the method stays as it is", out.view());
    require(seen.second == request.target, "the target stays as it is", out.view());
    require(seen.count("host") == 1, "there is one Host", out.view());
    require(seen.count("cookie") <= 1, "a cookie is joined", out.view());
    require(
        seen.lists("connection", "upgrade") == request.extended_connect,
        "only a WebSocket is asked for", out.view());
    const auto again = parser.parse_request(out.view());
    require(again.has_value(), "the gateway takes what it writes", out.view());
    require(again->authority == request.authority, "the host is read again", out.view());
    require(again->path == request.path, "the path is read again", out.view());
    require(
        again->framing.kind == request.framing.kind &&
            again->framing.length == request.framing.length,
        "the framing is read again", out.view());
}

void check(std::uint8_t options, std::string_view text) {
    static Http2Request request; // its memory is used again
    const bool ends = (options & 1) == 0;
    int first = 0;
    for (int turn = 0; turn < 2; ++turn) {
        request.begin(bounds_of(options));
        add_fields(text, request);
        RequestHead head;
        const auto error = request.finish(ends, head, key);
        const int status = error ? error->status : 200;
        require(turn == 0 || status == first, "the same fields have the same end", text);
        first = status;
        if (!error) {
            check_taken(head, ends);
            continue;
        }
        require(status >= 400 && status < 600, "a refusal has a status", text);
        require(!error->detail.empty(), "a refusal says why", text);
        require(head.method.empty() && head.fields.empty(), "what is refused has no head", text);
    }
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size > 0)
        stint::fuzz::check(bytes[0], {reinterpret_cast<const char*>(bytes) + 1, size - 1});
    return 0;
}
