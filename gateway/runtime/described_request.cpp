#include "runtime/described_request.hpp"

#include "base/ip_address.hpp"
#include "http/ascii.hpp"
#include "http/target.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace stint::runtime {
namespace {

constexpr std::size_t largest_head = 1 << 20;

bool is_framing(std::string_view name) {
    constexpr std::array names{
        "host", "content-length", "transfer-encoding", "connection", "expect"};
    return std::ranges::any_of(
        names, [&](const char* each) { return http::ascii::equals_folded(name, each); });
}

// The head as a client may send it.
void write_head(std::string& head, const DescribedRequest& request) {
    head.clear();
    head.append(request.method).append(" ").append(request.target);
    if (request.host.empty())
        head += " HTTP/1.0\r\n";
    else
        head.append(" HTTP/1.1\r\nHost: ").append(request.host).append("\r\n");
    for (const auto& [name, value] : request.fields)
        if (!is_framing(name))
            head.append(name).append(": ").append(value).append("\r\n");
    head += "\r\n";
}

} // namespace

RequestReader::RequestReader() : parser_{largest_head} {}

Result<RequestReader::Seen, http::HeadError> RequestReader::read(
    const DescribedRequest& request, const routing::RouteTable& routes, const KeyHasher& hasher) {
    write_head(head_, request);
    std::size_t scanned = 0;
    if (http::find_head_end(head_, scanned) != head_.size())
        return http::HeadError{400, "a line of the head is empty"};
    const auto head = parser_.parse_request(head_);
    if (!head)
        return head.error();
    const auto path = http::normalise_path(head->path, path_scratch_);
    if (!path)
        return path.error();
    const std::string_view host = http::normalise_host(head->authority, host_scratch_);
    const routing::MatchResult match = routes.match(host, *path, head->method);
    client_.emplace(IpAddress::parse(request.client).value_or(IpAddress{}), hasher);
    return Seen{
        match,
        {.client = *client_,
         .hasher = hasher,
         .fields = head->fields,
         .query = head->query,
         .host = host,
         .path = *path,
         .method = head->method,
         .route =
             match.route != nullptr ? std::string_view{match.route->name} : std::string_view{}}};
}

} // namespace stint::runtime
