#include "runtime/synthetic_request.hpp"

#include "admission/request_admission.hpp"
#include "base/ip_address.hpp"
#include "http/ascii.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace stint::runtime {
namespace {

constexpr std::size_t largest_head = 1 << 20;
constexpr std::size_t most_fields = 1000;

bool is_framing(std::string_view name) {
    constexpr std::array names{"host", "content-length", "transfer-encoding", "connection"};
    return std::ranges::any_of(
        names, [&](const char* each) { return http::ascii::equals_folded(name, each); });
}

// Writes the request head as a client would send it.
void write_head(std::string& head, const SyntheticRequest& request) {
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

RequestReader::RequestReader() : parser_{largest_head, most_fields} {}

Result<RequestReader::Seen, http::HeadError> RequestReader::read(
    const SyntheticRequest& request, const routing::Snapshot& snapshot, const KeyHasher& hasher) {
    write_head(head_, request);
    std::size_t scanned = 0;
    if (http::find_head_end(head_, scanned) != head_.size())
        return http::HeadError{400, "a line of the head is empty"};
    const auto head = parser_.parse_request(
        head_, {.max_target = snapshot.heads.max_target, .max_fields = snapshot.heads.max_fields});
    if (!head)
        return head.error();
    client_.emplace(IpAddress::parse(request.client).value_or(IpAddress{}), hasher);
    return Seen{*head, admission::facts_of(*head, *client_, hasher, request.tls_subject)};
}

} // namespace stint::runtime
